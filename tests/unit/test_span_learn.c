/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_span_learn.c - a span measures the candidates of its cells, and keeps the fastest
 * (HUDDLE_WISDOM). Ranks are threads, as in test_span.c.
 */
#include "post.h"
#include "spanned.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { MIDDLE = 8000, CALLS = 450 };

static const char *const automatic[] = { "HUDDLE_NODES=auto", "HUDDLE_WISDOM=on", NULL },
                         *const off[] = { "HUDDLE_NODES=on", "HUDDLE_WISDOM=off", NULL },
                         *const tries_all[] = { "HUDDLE_NODES=on", "HUDDLE_WISDOM=on",
                                                "HUDDLE_LAB_TRY_ALL=on", NULL },
                         *const fixed[] = { "HUDDLE_NODES=on", "HUDDLE_WISDOM=on",
                                            "HUDDLE_REDUCE_ORDER=fixed", NULL };

/* ---- tests ---- */

static void let_the_host_win(struct rank *r)
{
    static const char *const kinds[] = { "bcast", "barrier", "allgather", "allreduce" };
    bool all = r->context->config.number[SET_TRY_ALL] == SWITCH_ON;

    spanned_begin(r);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds - !all; i++) {
        MUST(r, strcmp(spanned_learned(kinds[i], SPANNED_SMALL), "mpi") == 0);
        for (int n = 0; n < 4; n++)
            MUST(r, spanned_call(kinds[i], SPANNED_SMALL) == HUD_PASS);
    }
    struct stats_coll *s = &context_stats(r->context)->coll[COLL_BCAST];
    MUST(r, mem_count_read(&s->reason_calls[REASON_FASTER]) > 4);
    MUST(r, mem_count_read(&s->reason_calls[REASON_TRIED]) > 0);
    MUST(r, spanned_call("bcast", SPANNED_LARGE) == HUD_OK); /* another cell */
}

static void slow_algorithm_loses_to_the_host_on_all_ranks(void **state)
{
    (void)state;
    spanned_cost.fast = "mpi";
    spanned_run(spanned_in_two, let_the_host_win, spanned_learns);
    spanned_run(spanned_mixed, let_the_host_win, spanned_learns);
    spanned_run(spanned_mixed, let_the_host_win, tries_all);
}

static void let_an_algorithm_win(struct rank *r)
{
    spanned_begin(r);
    MUST(r, strcmp(spanned_learned("allreduce", MIDDLE), spanned_cost.fast) == 0);
    MUST(r, spanned_call("allreduce", MIDDLE) == HUD_OK);
}

static void faster_algorithm_wins(void **state)
{
    static const char *const fast[] = { "nodes", "rings" };

    (void)state;
    for (size_t i = 0; i < sizeof fast / sizeof *fast; i++) {
        spanned_cost.fast = fast[i];
        spanned_run(spanned_in_two, let_an_algorithm_win, spanned_learns);
    }
}

static void let_a_route_win(struct rank *r)
{
    spanned_begin(r);
    MUST(r, strncmp(spanned_learned("bcast", SPANNED_LARGE), spanned_cost.fast,
                    strlen(spanned_cost.fast)) == 0);
}

static void faster_tree_of_nodes_wins(void **state)
{
    static const char *const fast[] = { "nodes tree=kary", "nodes tree=knomial",
                                        "nodes fragment=4K" };

    (void)state;
    for (size_t i = 0; i < sizeof fast / sizeof *fast; i++) {
        spanned_cost.fast = fast[i];
        spanned_run(spanned_alone, let_a_route_win, spanned_learns);
    }
}

/* Lets the choices differ by rank. The slowest rank's time counts, so no choice is fast. */
static void learn_from_different_times(struct rank *r)
{
    spanned_begin(r);
    spanned_learned("bcast", SPANNED_SMALL);
    for (int i = 0; i < CALLS; i++)
        spanned_call("allreduce", SPANNED_SMALL);
}

static void all_ranks_decide_alike(void **state)
{
    (void)state;
    spanned_cost.fast = "mpi";
    spanned_cost.unlike = true;
    spanned_run(spanned_in_two, learn_from_different_times, spanned_learns);
    spanned_cost.unlike = false;
}

/* Begins with broadcasts that the network's model leaves to the host. */
static void begin_with_the_host(struct rank *r)
{
    spanned_begin(r);
    MUST(r, spanned_call("bcast", SPANNED_SMALL) == HUD_PASS);
    MUST(r, strncmp(spanned_learned("bcast", SPANNED_SMALL), "nodes", 5) == 0);
    MUST(r, spanned_call("bcast", SPANNED_SMALL) == HUD_OK);
}

static void model_decides_only_the_first_calls(void **state)
{
    (void)state;
    spanned_cost.fast = "nodes";
    spanned_run(spanned_alone, begin_with_the_host, automatic);
}

static void learn_without_ends(struct rank *r)
{
    spanned_begin(r);
    r->context->host.ends_own_calls = 0;
    for (int i = 0; i < CALLS / 2; i++)
        MUST(r, spanned_call("allgather", SPANNED_LARGE) == HUD_OK &&
                    spanned_call("barrier", 0) == HUD_OK);
    MUST(r, hud_learner_decided(&spanned_cell_of("allgather")->learner));
    MUST(r, !spanned_cell_of("barrier"));
}

static void host_whose_calls_have_no_known_end_is_no_candidate(void **state)
{
    (void)state;
    spanned_cost.fast = "rings";
    spanned_run(spanned_in_two, learn_without_ends, spanned_learns);
}

static void make_few_calls(struct rank *r)
{
    spanned_begin(r);
    for (int i = 0; i < LEARNER_WARM_UP; i++)
        MUST(r, spanned_call("bcast", SPANNED_SMALL) == HUD_OK);
}

static void learn_nothing(struct rank *r)
{
    spanned_begin(r);
    MUST(r, !spanned_span_of(r, 0)->learn);
    for (int i = 0; i < 50; i++)
        MUST(r, spanned_call("bcast", SPANNED_SMALL) == HUD_OK);
}

static void program_with_few_calls_tries_nothing(void **state)
{
    (void)state;
    spanned_cost.fast = "mpi";
    spanned_run(spanned_in_two, make_few_calls, spanned_learns);
    spanned_run(spanned_in_two, learn_nothing, off);
}

/* ---- bits ---- */

static void reduce_without_trials(struct rank *r)
{
    spanned_begin(r);
    for (int i = 0; i < CALLS / 2; i++) {
        MUST(r, spanned_call_with(0, "allreduce", SPANNED_SMALL, &spanned_inexact) == HUD_OK);
        MUST(r, strcmp(spanned_used(), "nodes") == 0);
        MUST(r, spanned_call_with(0, "allreduce", SPANNED_LARGE, &spanned_inexact) == HUD_OK);
        MUST(r, strcmp(spanned_used(), "rings") == 0);
    }
}

/* Adds integers while huddle's algorithms are tried.  The host's own sum is never one of them. */
static void reduce_with_trials(struct rank *r)
{
    spanned_begin(r);
    for (int i = 0; i < CALLS; i++) {
        MUST(r, spanned_call("allreduce", MIDDLE) == HUD_OK);
        MUST(r, spanned_call("reduce", MIDDLE) == HUD_OK);
    }
    MUST(r, mem_count_read(&context_stats(r->context)->tried) > 0);
    for (int kind = 0; kind < COLL_KINDS; kind++)
        MUST(r, mem_count_read(&context_stats(r->context)->coll[kind].reason_calls[REASON_TRIED]) ==
                    0);
}

/* Reduces in fixed order, although rank 0 knows that the host's own sum is faster. */
static void keep_the_order(struct rank *r)
{
    spanned_know(r, plan_at(COLL_ALLREDUCE, SPANNED_SMALL), -1, 5000);
    spanned_begin(r);
    for (int i = 0; i < CALLS / 4; i++)
        MUST(r, spanned_call("allreduce", SPANNED_SMALL) == HUD_OK);
}

static void trials_change_no_bits(void **state)
{
    (void)state;
    spanned_cost.fast = "mpi";
    spanned_run(spanned_in_two, reduce_without_trials, spanned_learns);
    spanned_run(spanned_in_two, reduce_with_trials, spanned_learns);
    spanned_run(spanned_in_two, keep_the_order, fixed);
}

static void reduce_as_known(struct rank *r)
{
    spanned_know(r, plan_at(COLL_ALLREDUCE + PLAN_INEXACT, SPANNED_SMALL), -1, 5000);
    spanned_know(r, plan_at(COLL_ALLREDUCE, MIDDLE), -1, 5000);
    spanned_begin(r);
    for (int i = 0; i < CALLS / 4; i++) {
        MUST(r, spanned_call_with(0, "allreduce", SPANNED_SMALL, &spanned_inexact) == HUD_PASS);
        MUST(r, spanned_call("allreduce", MIDDLE) == HUD_PASS);
    }
    for (int i = 0; i < LEARNER_WARM_UP; i++)
        MUST(r, spanned_call("allreduce", SPANNED_SMALL) == HUD_OK); /* another cell */
}

static void known_choices_may_leave_any_sum_to_the_host(void **state)
{
    (void)state;
    spanned_cost.fast = "nodes";
    spanned_run(spanned_in_two, reduce_as_known, spanned_learns);
}

/* Makes all reductions by algorithms of huddle, although each node has one rank. */
static void reduce_on_one_processor(struct rank *r)
{
    spanned_begin(r);
    for (int i = 0; i < CALLS; i++) {
        MUST(r, spanned_call_with(0, "allreduce", SPANNED_SMALL, &spanned_inexact) == HUD_OK);
        MUST(r, spanned_call("reduce", SPANNED_SMALL) == HUD_OK);
        MUST(r, spanned_call("allreduce", MIDDLE) == HUD_OK);
    }
    MUST(r, mem_count_read(&context_stats(r->context)->tried) > 0);
}

/* Leaves reductions to the host, from the first call to the last. */
static void leave_reductions(struct rank *r)
{
    spanned_begin(r);
    for (int i = 0; i < CALLS / 4; i++) {
        MUST(r, spanned_call_with(0, "allreduce", SPANNED_SMALL, &spanned_inexact) == HUD_PASS);
        MUST(r, spanned_call("reduce", SPANNED_SMALL) == HUD_PASS);
        MUST(r, spanned_call("allreduce", MIDDLE) == HUD_PASS);
    }
}

static void shared_processors_decide_who_reduces(void **state)
{
    (void)state;
    spanned_cost.fast = "rings";
    spanned_run(spanned_alone, leave_reductions, automatic);
    spanned_cost.shared = true;
    spanned_run(spanned_alone, reduce_on_one_processor, automatic);
    spanned_run(spanned_alone, reduce_as_known, automatic);
    spanned_cost.shared = false;
}

/* ---- what is known ---- */

/* Learns on the first span, and then begins a second one. Only rank 0 still has the decisions, and
 * the other ranks know other things. */
static void learn_on_two_spans(struct rank *r)
{
    spanned_begin(r);
    MUST(r, strcmp(spanned_learned("bcast", SPANNED_SMALL), "mpi") == 0);
    if (r->rank != 0) {
        hud_wisdom_free(&r->context->learn.wisdom);
        spanned_know(r, plan_at(COLL_BCAST, SPANNED_SMALL), NET_BCAST, 1);
        spanned_know(r, plan_at(COLL_BARRIER, 0), -1, (uint64_t)r->rank);
    }
    MUST(r, spanned_call_with(1, "bcast", SPANNED_SMALL, &spanned_exact) == HUD_PASS);
    MUST(r, spanned_call_with(1, "barrier", 0, &spanned_exact) == HUD_OK);
}

static void second_span_begins_with_the_choices_of_rank_0(void **state)
{
    (void)state;
    spanned_cost.fast = "mpi";
    spanned_run(spanned_in_two, learn_on_two_spans, spanned_learns);
    spanned_run(spanned_mixed, learn_on_two_spans, spanned_learns);
}

static void use_what_all_know(struct rank *r)
{
    spanned_know(r, plan_at(COLL_BCAST, SPANNED_SMALL), -1, 9000);
    spanned_begin(r);
    MUST(r, spanned_call("bcast", SPANNED_SMALL) == HUD_PASS);
    MUST(r, !spanned_span_of(r, 0)->learn->shares);
    MUST(r, spanned_span_of(r, 0)->calls == 2); /* a comparison of sizes, and a barrier */
}

static void equal_knowledge_is_not_sent(void **state)
{
    (void)state;
    spanned_cost.fast = "mpi";
    spanned_run(spanned_in_two, use_what_all_know, spanned_learns);
}

/* ---- failures ---- */

/* Breaks messages during a trial. The calls must end on all ranks, and never fall back, since
 * other ranks may have left another call. */
static void break_a_trial(struct rank *r)
{
    int status = HUD_OK;

    spanned_begin(r);
    for (int i = 0; i < LEARNER_WARM_UP + r->ranks; i++)
        spanned_call("bcast", SPANNED_SMALL);
    ranks_meet(r);
    post_break();
    ranks_meet(r);
    char bytes[SPANNED_SMALL];
    const struct hud_view view = { .base = bytes, .bytes = SPANNED_SMALL };
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
    spanned_cost.fast = "nodes";
    spanned_run(spanned_in_two, break_a_trial, spanned_learns);
    spanned_run(spanned_alone, break_a_trial, spanned_learns);
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
        cmocka_unit_test(known_choices_may_leave_any_sum_to_the_host),
        cmocka_unit_test(shared_processors_decide_who_reduces),
        cmocka_unit_test(second_span_begins_with_the_choices_of_rank_0),
        cmocka_unit_test(equal_knowledge_is_not_sent),
        cmocka_unit_test(failure_in_a_trial_ends_the_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
