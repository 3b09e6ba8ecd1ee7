/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_span_learn.c - a span measures the candidates of its cells, and keeps the fastest
 * (HUDDLE_WISDOM). Ranks are threads, as in test_span.c.
 *
 * The clock is simulated: the test determines the time of a call from its algorithm and its
 * parameters. So the tests know which choice must be kept.
 */
#include "calls.h"
#include "core/span/span_learn.h"
#include "post.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum {
    RANKS = 4,
    SMALL = 64,
    MIDDLE = 8000,
    LARGE = 100000,
    CALLS = 450,
    FAST_NS = 20000,
    SLOW_NS = 60000
};

static const char *const learns[] = { "HUDDLE_NODES=on", "HUDDLE_WISDOM=on", NULL },
                         *const automatic[] = { "HUDDLE_NODES=auto", "HUDDLE_WISDOM=on", NULL },
                         *const off[] = { "HUDDLE_NODES=on", "HUDDLE_WISDOM=off", NULL },
                         *const fixed[] = { "HUDDLE_NODES=on", "HUDDLE_WISDOM=on",
                                            "HUDDLE_REDUCE_ORDER=fixed", NULL };

static const int in_two[RANKS] = { 0, 0, 1, 1 }, mixed[RANKS] = { 0, 1, 2, 1 },
                 alone[RANKS] = { 0, 1, 2, 3 };
static const int *node_of;

/* ---- the clock ---- */

static struct {
    const char *fast; /* the beginning of the name of the fast choice */
    bool unlike;      /* rank 1 finds it fast, other ranks find it slow */
} made_up;

static _Thread_local struct rank *me;
static _Thread_local uint64_t now_ns;
static _Thread_local bool passes; /* the call is the host's own */
static _Thread_local char last[PLAN_ENTRY_NAME];

static struct span *span_of(const struct rank *r, int team)
{
    return r->teams[team].team->hooks.span;
}

/* Returns the algorithm of the last call with its parameters. */
static const char *used(void)
{
    const struct span *span = span_of(me, 0);
    struct span_choice choice = hud_span_by_model;

    if (passes)
        return "mpi";
    choice.tag = span->node.plan.entry->slot;
    if (choice.tag == NET_BCAST)
        memcpy(choice.param, span->route.given, sizeof choice.param);
    hud_span_choice_name(&choice, last);
    return last;
}

static uint64_t made_up_ns(void)
{
    bool fast = strncmp(used(), made_up.fast, strlen(made_up.fast)) == 0;

    if (made_up.unlike)
        fast = fast && me->rank == 1;
    now_ns += fast ? FAST_NS : SLOW_NS;
    return now_ns;
}

/* ---- calls ---- */

static const struct hud_op exact = { .element_bytes = 8,
                                     .commutative = 1,
                                     .exact = 1,
                                     .combine = add_words,
                                     .name = "add" },
                           inexact = { .element_bytes = 8,
                                       .commutative = 1,
                                       .combine = add_words,
                                       .name = "add roughly" };

static int call_with(int team, const char *name, size_t bytes, const struct hud_op *op)
{
    static _Thread_local int number;
    const struct call_what what = { hud_collective(name), number++, me->ranks, op, bytes, false };
    struct call *c = call_begin(&what, me->rank);
    int status = hud_call(me->teams[team].team, call_args(c));

    MUST(me, status != HUD_OK || call_check(c));
    MUST(me, call_end(c));
    MUST(me, ranks_agree(me, 0, (uint64_t)status));
    if (status == HUD_PASS) {
        passes = true;
        hud_team_exit(me->teams[team].team);
        passes = false;
    }
    return status;
}

static int call(const char *name, size_t bytes)
{
    return call_with(0, name, bytes, &exact);
}

static void begin(struct rank *r)
{
    me = r;
    now_ns = 1000;
    r->context->host_id = (uint64_t)node_of[r->rank] + 1;
    r->context->host.ends_own_calls = 1;
    r->context->network = (struct cost_network){ 5000, 10, 2000, 2000 };
    MUST(r, call("scan", 8) == HUD_PASS); /* sets the span up */
    MUST(r, span_of(r, 0) != NULL);
    if (span_of(r, 0)->learn)
        span_of(r, 0)->learn->clock_ns = made_up_ns;
}

static void run(const int *nodes, void (*body)(struct rank *r), const char *const *settings)
{
    post_begin();
    node_of = nodes;
    ranks_run(&(struct ranks){ .ranks = RANKS,
                               .teams = 2,
                               .messages = &post_messages,
                               .settings = settings,
                               .body = body });
    post_end();
}

/* Returns the last opened cell of a collective, or NULL. */
static const struct span_cell *cell_of(const char *name)
{
    const struct span_learn *l = span_of(me, 0)->learn;
    int i = l->cells - 1;

    while (i >= 0 && l->cell[i].at / PLAN_CLASSES != hud_collective(name))
        i--;
    return i >= 0 ? &l->cell[i] : NULL;
}

/* Makes calls until their cell is decided. Returns the name of the choice. */
static const char *learned(const char *name, size_t bytes)
{
    const struct span_cell *cell = NULL;

    for (int i = 0; i < CALLS && !(cell && hud_learner_decided(&cell->learner)); i++) {
        call(name, bytes);
        cell = cell_of(name);
    }
    MUST(me, cell && hud_learner_decided(&cell->learner));
    if (!cell)
        return "";
    int choice = hud_learner_choice(&cell->learner);
    MUST(me, ranks_agree(me, 1, (uint64_t)choice));
    hud_span_choice_name(&cell->choice[choice], last);
    return last;
}

/* ---- tests ---- */

static void let_the_host_win(struct rank *r)
{
    static const char *const kinds[] = { "bcast", "allreduce", "barrier", "allgather" };

    begin(r);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        MUST(r, strcmp(learned(kinds[i], SMALL), "mpi") == 0);
        for (int n = 0; n < 4; n++)
            MUST(r, call(kinds[i], SMALL) == HUD_PASS);
    }
    struct stats_coll *s = &context_stats(r->context)->coll[COLL_BCAST];
    MUST(r, mem_count_read(&s->became[REASON_FASTER]) > 4);
    MUST(r, call("bcast", LARGE) == HUD_OK); /* another cell */
}

static void slow_algorithm_loses_to_the_host_on_all_ranks(void **state)
{
    (void)state;
    made_up.fast = "mpi";
    run(in_two, let_the_host_win, learns);
    run(mixed, let_the_host_win, learns);
}

static void let_an_algorithm_win(struct rank *r)
{
    begin(r);
    MUST(r, strcmp(learned("allreduce", MIDDLE), made_up.fast) == 0);
    MUST(r, call("allreduce", MIDDLE) == HUD_OK);
}

static void faster_algorithm_wins(void **state)
{
    static const char *const fast[] = { "nodes", "rings" };

    (void)state;
    for (size_t i = 0; i < sizeof fast / sizeof *fast; i++) {
        made_up.fast = fast[i];
        run(in_two, let_an_algorithm_win, learns);
    }
}

static void let_a_route_win(struct rank *r)
{
    begin(r);
    MUST(r, strncmp(learned("bcast", LARGE), made_up.fast, strlen(made_up.fast)) == 0);
}

static void faster_tree_of_nodes_wins(void **state)
{
    static const char *const fast[] = { "nodes tree=kary", "nodes tree=knomial",
                                        "nodes fragment=4096" };

    (void)state;
    for (size_t i = 0; i < sizeof fast / sizeof *fast; i++) {
        made_up.fast = fast[i];
        run(alone, let_a_route_win, learns);
    }
}

/* Lets the choices differ by rank. The slowest rank's time counts, so no choice is fast. */
static void learn_from_different_times(struct rank *r)
{
    begin(r);
    learned("bcast", SMALL);
    for (int i = 0; i < CALLS; i++)
        call("allreduce", SMALL);
}

static void all_ranks_decide_alike(void **state)
{
    (void)state;
    made_up.fast = "mpi";
    made_up.unlike = true;
    run(in_two, learn_from_different_times, learns);
    made_up.unlike = false;
}

/* Begins with broadcasts that the network's model leaves to the host. */
static void begin_with_the_host(struct rank *r)
{
    begin(r);
    MUST(r, call("bcast", SMALL) == HUD_PASS);
    MUST(r, strncmp(learned("bcast", SMALL), "nodes", 5) == 0);
    MUST(r, call("bcast", SMALL) == HUD_OK);
}

static void model_decides_only_the_first_calls(void **state)
{
    (void)state;
    made_up.fast = "nodes";
    run(alone, begin_with_the_host, automatic);
}

static void learn_without_ends(struct rank *r)
{
    begin(r);
    r->context->host.ends_own_calls = 0;
    for (int i = 0; i < CALLS / 2; i++)
        MUST(r, call("allgather", LARGE) == HUD_OK && call("barrier", 0) == HUD_OK);
    MUST(r, hud_learner_decided(&cell_of("allgather")->learner));
    MUST(r, !cell_of("barrier"));
}

static void host_whose_calls_have_no_known_end_is_no_candidate(void **state)
{
    (void)state;
    made_up.fast = "rings";
    run(in_two, learn_without_ends, learns);
}

static void make_few_calls(struct rank *r)
{
    begin(r);
    for (int i = 0; i < LEARNER_WARM_UP; i++)
        MUST(r, call("bcast", SMALL) == HUD_OK);
}

static void learn_nothing(struct rank *r)
{
    begin(r);
    MUST(r, !span_of(r, 0)->learn);
    for (int i = 0; i < 50; i++)
        MUST(r, call("bcast", SMALL) == HUD_OK);
}

static void program_with_few_calls_tries_nothing(void **state)
{
    (void)state;
    made_up.fast = "mpi";
    run(in_two, make_few_calls, learns);
    run(in_two, learn_nothing, off);
}

/* ---- bits ---- */

static void reduce_without_trials(struct rank *r)
{
    begin(r);
    for (int i = 0; i < CALLS / 2; i++) {
        MUST(r, call_with(0, "allreduce", SMALL, &inexact) == HUD_OK);
        MUST(r, strcmp(used(), "nodes") == 0);
        MUST(r, call_with(0, "allreduce", LARGE, &inexact) == HUD_OK);
        MUST(r, strcmp(used(), "rings") == 0);
    }
}

static void keep_the_order(struct rank *r)
{
    begin(r);
    for (int i = 0; i < CALLS / 4; i++)
        MUST(r, call("allreduce", SMALL) == HUD_OK);
}

static void trials_change_no_bits(void **state)
{
    (void)state;
    made_up.fast = "mpi";
    run(in_two, reduce_without_trials, learns);
    run(in_two, keep_the_order, fixed);
}

/* Stores what an earlier program could have learned. */
static void know(struct rank *r, int at, int row, uint64_t ns)
{
    struct plan_facts facts = { .ranks = RANKS, .nodes = 2, .within = "machine" };

    for (int over = 0; over < 2; over++) {
        facts.oversubscribed = over != 0;
        struct rule rule = hud_wisdom_rule(&facts, at);
        rule.row = row;
        rule.ns = ns;
        hud_wisdom_store(&r->context->wisdom, &r->context->config, &rule, NULL, false);
    }
}

static void reduce_as_known(struct rank *r)
{
    know(r, plan_at(COLL_ALLREDUCE + PLAN_INEXACT, SMALL), -1, 5000);
    begin(r);
    for (int i = 0; i < CALLS / 4; i++)
        MUST(r, call_with(0, "allreduce", SMALL, &inexact) == HUD_PASS);
    for (int i = 0; i < LEARNER_WARM_UP; i++)
        MUST(r, call("allreduce", SMALL) == HUD_OK); /* another cell */
}

static void wisdom_may_leave_any_sum_to_the_host(void **state)
{
    (void)state;
    made_up.fast = "nodes";
    run(in_two, reduce_as_known, learns);
}

/* ---- what is known ---- */

/* Learns on the first span, and then begins a second one. Only rank 0 still has the decisions, and
 * the other ranks know other things. */
static void learn_on_two_spans(struct rank *r)
{
    begin(r);
    MUST(r, strcmp(learned("bcast", SMALL), "mpi") == 0);
    if (r->rank != 0) {
        hud_wisdom_free(&r->context->wisdom);
        know(r, plan_at(COLL_BCAST, SMALL), NET_BCAST, 1);
        know(r, plan_at(COLL_BARRIER, 0), -1, (uint64_t)r->rank);
    }
    MUST(r, call_with(1, "bcast", SMALL, &exact) == HUD_PASS);
    MUST(r, call_with(1, "barrier", 0, &exact) == HUD_OK);
}

static void second_span_begins_with_what_rank_0_knows(void **state)
{
    (void)state;
    made_up.fast = "mpi";
    run(in_two, learn_on_two_spans, learns);
    run(mixed, learn_on_two_spans, learns);
}

static void use_what_all_know(struct rank *r)
{
    know(r, plan_at(COLL_BCAST, SMALL), -1, 9000);
    begin(r);
    MUST(r, call("bcast", SMALL) == HUD_PASS);
    MUST(r, !span_of(r, 0)->learn->shares && span_of(r, 0)->calls == 0); /* no broadcast */
}

static void equal_knowledge_is_not_sent(void **state)
{
    (void)state;
    made_up.fast = "mpi";
    run(in_two, use_what_all_know, learns);
}

/* ---- failures ---- */

/* Breaks messages during a trial. The calls must end on all ranks, and never fall back, since
 * other ranks may have left another call. */
static void break_a_trial(struct rank *r)
{
    int status = HUD_OK;

    begin(r);
    for (int i = 0; i < LEARNER_WARM_UP + r->ranks; i++)
        call("bcast", SMALL);
    ranks_meet(r);
    post_break();
    ranks_meet(r);
    char bytes[SMALL];
    const struct hud_view view = { .base = bytes, .bytes = SMALL };
    for (int i = 0; i < 100 && (status == HUD_OK || status == HUD_PASS); i++) {
        status = hud_bcast(r->teams[0].team, &view, 0);
        if (status == HUD_PASS)
            hud_team_exit(r->teams[0].team);
    }
    MUST(r, status == HUD_ERR_FAILED);
    MUST(r, hud_bcast(r->teams[0].team, &view, 0) == HUD_ERR_FAILED);
    MUST(r, hud_barrier(r->teams[0].team) == HUD_ERR_FAILED);
}

static void failure_in_a_trial_ends_the_calls(void **state)
{
    (void)state;
    made_up.fast = "nodes";
    run(in_two, break_a_trial, learns);
    run(alone, break_a_trial, learns);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slow_algorithm_loses_to_the_host_on_all_ranks),
        cmocka_unit_test(faster_algorithm_wins),
        cmocka_unit_test(faster_tree_of_nodes_wins),
        cmocka_unit_test(all_ranks_decide_alike),
        cmocka_unit_test(model_decides_only_the_first_calls),
        cmocka_unit_test(host_whose_calls_have_no_known_end_is_no_candidate),
        cmocka_unit_test(program_with_few_calls_tries_nothing),
        cmocka_unit_test(trials_change_no_bits),
        cmocka_unit_test(wisdom_may_leave_any_sum_to_the_host),
        cmocka_unit_test(second_span_begins_with_what_rank_0_knows),
        cmocka_unit_test(equal_knowledge_is_not_sent),
        cmocka_unit_test(failure_in_a_trial_ends_the_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
