/* SPDX-License-Identifier: BSD-3-Clause */
/* spanned.c - see spanned.h. */
#define _GNU_SOURCE /* sched_setaffinity */
#include "spanned.h"
#include "core/job/decision.h"
#include "one_processor.h"
#include "post.h"

#include <string.h>

enum { CALLS = 450, FAST_NS = 20000, SLOW_NS = 60000, MEET_NS = 1000 };

const int spanned_in_two[SPANNED_RANKS] = { 0, 0, 1, 1 },
          spanned_mixed[SPANNED_RANKS] = { 0, 1, 2, 1 },
          spanned_alone[SPANNED_RANKS] = { 0, 1, 2, 3 };
const char *const spanned_learns[] = { "HUDDLE_NODES=on", "HUDDLE_WISDOM=on", NULL };
static const int *node_of;

/* ---- the clock ---- */

struct spanned_cost spanned_cost;
_Thread_local struct rank *spanned_me;
static _Thread_local uint64_t now_ns;
static _Thread_local bool passes; /* the call is the host's own */
static _Thread_local bool is_broadcast;
static _Thread_local char last[PLAN_ENTRY_NAME];

struct span *spanned_span_of(const struct rank *r, int team)
{
    return r->teams[team].team->hooks.span;
}

/* Returns a choice's algorithm with its parameters. */
static const char *name_of(const struct span_choice *choice)
{
    struct rule rule = { .nodes = 2 };

    hud_decision_set(&rule,
                     &(struct decision_candidate){ choice->tag, SPAN_PARAMS, choice->param });
    hud_rule_write_choice(&rule, last, sizeof last);
    return last;
}

/* Returns the algorithm of the last call with its parameters. */
const char *spanned_used(void)
{
    const struct span *span = spanned_span_of(spanned_me, 0);
    struct span_choice choice = hud_span_by_model;

    if (passes)
        return "mpi";
    choice.tag = span->node.plan.entry->slot;
    if (choice.tag == NET_BCAST)
        memcpy(choice.param, span->route.given, sizeof choice.param);
    return name_of(&choice);
}

/* Returns whether the ranks have just met before the host's own broadcast, which takes little. */
static bool has_met(void)
{
    return is_broadcast && !passes &&
           spanned_span_of(spanned_me, 0)->node.plan.entry->slot == NET_BARRIER;
}

static uint64_t made_up_ns(void)
{
    bool fast = strncmp(spanned_used(), spanned_cost.fast, strlen(spanned_cost.fast)) == 0;

    if (spanned_cost.unlike)
        fast = fast && spanned_me->rank == 1;
    now_ns += has_met() ? MEET_NS : fast ? FAST_NS : SLOW_NS;
    return now_ns;
}

/* ---- calls ---- */

const struct hud_op spanned_exact = { .element_bytes = 8,
                                      .commutative = 1,
                                      .exact = 1,
                                      .combine = add_words,
                                      .name = "add" },
                    spanned_inexact = { .element_bytes = 8,
                                        .commutative = 1,
                                        .combine = add_words,
                                        .name = "add roughly" };

int spanned_call_with(int team, const char *name, size_t bytes, const struct hud_op *op)
{
    static _Thread_local int number;
    const struct call_what what = {
        hud_collective(name), number++, spanned_me->ranks, op, bytes, false
    };
    struct call *c = call_begin(&what, spanned_me->rank);

    is_broadcast = strcmp(name, "bcast") == 0;
    int status = hud_call(spanned_me->teams[team].team, call_args(c));

    MUST(spanned_me, status != HUD_OK || call_check(c));
    MUST(spanned_me, call_end(c));
    MUST(spanned_me, ranks_agree(spanned_me, 0, (uint64_t)status));
    if (status == HUD_PASS) {
        passes = true;
        hud_team_exit(spanned_me->teams[team].team);
        passes = false;
    }
    return status;
}

int spanned_call(const char *name, size_t bytes)
{
    return spanned_call_with(0, name, bytes, &spanned_exact);
}

void spanned_begin(struct rank *r)
{
    spanned_me = r;
    now_ns = 1000;
    r->context->id.host_id = (uint64_t)node_of[r->rank] + 1;
    r->context->id.boot_id = spanned_cost.shared ? 1 : r->context->id.host_id;
    r->context->host.local_ranks = 0; /* unknown, as the ranks are on other nodes now */
    if (spanned_cost.shared)
        use_first_processor();
    r->context->host.ends_own_calls = 1;
    r->context->plan.network = (struct cost_network){ 5000, 10, 2000, 2000 };
    MUST(r, spanned_call("scan", 8) == HUD_PASS); /* sets the span up */
    MUST(r, spanned_span_of(r, 0) != NULL);
    if (spanned_span_of(r, 0)->learn)
        spanned_span_of(r, 0)->learn->clock_ns = made_up_ns;
}

void spanned_run(const int *nodes, void (*body)(struct rank *r), const char *const *settings)
{
    post_begin();
    node_of = nodes;
    ranks_run(&(struct ranks){ .ranks = SPANNED_RANKS,
                               .teams = 2,
                               .messages = &post_messages,
                               .settings = settings,
                               .body = body });
    post_end();
}

/* Returns the last opened cell of a collective, or NULL. */
struct span_cell *spanned_cell_of(const char *name)
{
    struct span_learn *l = spanned_span_of(spanned_me, 0)->learn;
    int i = l->cells - 1;

    while (i >= 0 && l->cell[i].at / PLAN_CLASSES != hud_collective(name))
        i--;
    return i >= 0 ? &l->cell[i] : NULL;
}

/* Makes calls until their cell is decided, without a budget. Returns the name of the choice. */
const char *spanned_learned(const char *name, size_t bytes)
{
    struct span_cell *cell = NULL;

    for (int i = 0; i < CALLS && !(cell && hud_learner_decided(&cell->learner)); i++) {
        spanned_call(name, bytes);
        cell = spanned_cell_of(name);
        if (cell)
            cell->learner.unlimited = true;
    }
    MUST(spanned_me, cell && hud_learner_decided(&cell->learner));
    if (!cell)
        return "";
    int choice = hud_learner_choice(&cell->learner);
    MUST(spanned_me, ranks_agree(spanned_me, 1, (uint64_t)choice));
    return name_of(&cell->choice[choice]);
}

/* Stores what an earlier program could have learned. */
void spanned_know(struct rank *r, int at, int row, uint64_t ns)
{
    struct plan_facts facts = { .ranks = SPANNED_RANKS, .within = "machine" };

    for (int i = 0; i < SPANNED_RANKS; i++)
        facts.nodes = node_of[i] < facts.nodes ? facts.nodes : node_of[i] + 1;
    for (int over = 0; over < 2; over++) {
        facts.oversubscribed = over != 0;
        struct rule rule = hud_wisdom_rule(&facts, at);
        rule.row = row;
        rule.ns = ns;
        hud_wisdom_store(&r->context->learn.wisdom, &r->context->config, &rule, NULL, false);
    }
}
