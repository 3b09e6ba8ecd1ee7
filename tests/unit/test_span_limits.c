/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_span_limits.c - spans that learn (HUDDLE_WISDOM): known choices where there is no room for
 * another cell, and truncated broadcasts, which end with an error whatever was learned.
 */
#include "core/job/decision.h"
#include "spanned.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { CALLS = 100 };

/* ---- a full table ---- */

/* Fills the table of cells, and then makes calls of two further cells, one of them known. */
static void fill_the_table(struct rank *r)
{
    struct span_choice ring = hud_span_by_model;

    ring.tag = NET_ALLREDUCE_RINGS;
    spanned_know(r, plan_at(COLL_ALLREDUCE, SPANNED_LARGE), ring.tag, 5000);
    spanned_begin(r);
    struct span_learn *l = spanned_span_of(r, 0)->learn;
    MUST(r, spanned_call("bcast", SPANNED_LARGE) == HUD_OK);
    l->cells = SPAN_CELLS; /* the state after calls of as many cells */
    for (int i = 0; i < CALLS; i++) {
        MUST(r, spanned_call("allreduce", SPANNED_LARGE) == HUD_OK);
        MUST(r, strcmp(spanned_used(), "rings") == 0);
        MUST(r, spanned_call("allreduce", SPANNED_SMALL) == HUD_OK &&
                    spanned_call("bcast", SPANNED_LARGE) != HUD_ERR_FAILED);
    }
    MUST(r, l->cells == SPAN_CELLS && l->fixed_count == 1);
    MUST(r, l->cell_of[plan_at(COLL_ALLREDUCE, SPANNED_SMALL)] == SPAN_NO_CELL);
}

/* Leaves a known cell to the host although the table is full. */
static void fill_with_the_host_known(struct rank *r)
{
    spanned_know(r, plan_at(COLL_ALLREDUCE, SPANNED_SMALL), -1, 5000);
    spanned_know(r, plan_at(COLL_BCAST, SPANNED_SMALL), -1, 5000);
    spanned_begin(r);
    spanned_span_of(r, 0)->learn->cells = SPAN_CELLS;
    for (int i = 0; i < CALLS; i++)
        MUST(r, spanned_call("allreduce", SPANNED_SMALL) == HUD_PASS &&
                    spanned_call("bcast", SPANNED_SMALL) == HUD_PASS);
    MUST(r, spanned_span_of(r, 0)->learn->fixed_count == 2);
}

static void known_choices_serve_cells_without_room(void **state)
{
    (void)state;
    spanned_cost.fast = "nodes";
    spanned_run(spanned_in_two, fill_the_table, spanned_learns);
    spanned_run(spanned_in_two, fill_with_the_host_known, spanned_learns);
}

static long known_param[SPAN_PARAMS];

/* Begins with a known choice of a broadcast. */
static void know_a_route(struct rank *r)
{
    struct plan_facts facts = { .ranks = SPANNED_RANKS,
                                .nodes = SPANNED_RANKS,
                                .within = "machine" };
    const struct decision_candidate choice = { NET_BCAST, SPAN_PARAMS, known_param };

    for (int over = 0; over < 2; over++) {
        facts.oversubscribed = over != 0;
        struct rule rule = hud_wisdom_rule(&facts, plan_at(COLL_BCAST, SPANNED_LARGE));
        hud_decision_set(&rule, &choice);
        rule.ns = 1000;
        hud_wisdom_store(&r->context->learn.wisdom, &r->context->config, &rule, NULL, false);
    }
    spanned_begin(r);
    MUST(r, spanned_call("bcast", SPANNED_LARGE) == HUD_OK);
    MUST(r, memcmp(spanned_span_of(r, 0)->route.given, known_param, sizeof known_param) == 0);
}

static void every_choice_can_be_learned(void **state)
{
    static const long trees[][2] = {
        { SHAPE_CHAIN, 1 }, { SHAPE_KARY, 2 }, { SHAPE_KNOMIAL, 2 }, { SHAPE_FLAT, 2 }
    };
    static const char *const settings[] = { "HUDDLE_NODES=on", "HUDDLE_WISDOM=on",
                                            "HUDDLE_LAB_NODES_FRAGMENT=64K", NULL };

    (void)state;
    spanned_cost.fast = "nodes";
    for (size_t tree = 0; tree < sizeof trees / sizeof *trees; tree++)
        for (long fragment = NODES_FRAGMENT_MIN; fragment <= 64 << 10; fragment *= 4) {
            known_param[NODES_TREE] = trees[tree][0];
            known_param[NODES_DEGREE] = trees[tree][1];
            known_param[NODES_FRAGMENT] = fragment;
            spanned_run(spanned_alone, know_a_route, settings);
        }
}

/* ---- truncated broadcasts ---- */

static int root_of_cut;

/* Broadcasts to ranks with shorter buffers: to all, or only to the last rank.  The calls of all
 * ranks must end, this call on each rank with a shorter buffer.  The host may make none of these
 * calls: a rank in its broadcast would wait for ever. */
static void cut_off(struct rank *r, bool all)
{
    size_t bytes =
        r->rank != root_of_cut && (all || r->rank == r->ranks - 1) ? SPANNED_SMALL : SPANNED_LARGE;
    char *data = calloc(1, SPANNED_LARGE);
    const struct hud_view view = { .base = data, .bytes = bytes };
    int first = hud_bcast(r->teams[0].team, &view, root_of_cut), status = first;

    MUST(r, first != HUD_PASS);
    MUST(r, bytes == SPANNED_LARGE || first == HUD_ERR_TRUNCATE || first == HUD_ERR_UNLIKE);
    for (int i = 0; i < 100 && status == HUD_OK; i++)
        status = hud_barrier(r->teams[0].team);
    MUST(r, status == HUD_ERR_TRUNCATE || status == HUD_ERR_UNLIKE || status == HUD_ERR_FAILED);
    MUST(r, hud_bcast(r->teams[0].team, &view, root_of_cut) == status);
    free(data);
}

/* What the ranks have learned before. */
static struct {
    const char *large, *small; /* beginning of the choice of such calls; NULL: their cell is open */
    bool all, due;             /* cuts off all receivers; the call is a sample */
} taught;

static void learn_and_cut_off(struct rank *r)
{
    spanned_begin(r);
    const struct {
        const char *fast;
        size_t bytes;
    } sizes[] = { { taught.large, SPANNED_LARGE }, { taught.small, SPANNED_SMALL } };
    for (int i = 0; i < 2; i++) {
        ranks_meet(r);
        if (r->rank == 0)
            spanned_cost.fast = sizes[i].fast ? sizes[i].fast : "nodes";
        ranks_meet(r);
        if (sizes[i].fast)
            MUST(r, strncmp(spanned_learned("bcast", sizes[i].bytes), sizes[i].fast, 3) == 0);
        else
            spanned_call("bcast", sizes[i].bytes);
    }
    spanned_span_of(r, 0)->learn->until_sample = taught.due ? 1 : 40;
    cut_off(r, taught.all);
}

static void truncation_ends_whatever_was_learned(void **state)
{
    static const char *const choices[] = { NULL, "mpi", "nodes" };

    (void)state;
    for (int i = 0; i < 9 * 8; i++) {
        taught.large = choices[i % 3];
        taught.small = choices[i / 3 % 3];
        taught.all = i / 9 % 2 != 0;
        taught.due = i / 18 % 2 != 0;
        root_of_cut = i / 36; /* the head of its node, and another rank */
        spanned_run(spanned_in_two, learn_and_cut_off, spanned_learns);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_choices_serve_cells_without_room),
        cmocka_unit_test(every_choice_can_be_learned),
        cmocka_unit_test(truncation_ends_whatever_was_learned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
