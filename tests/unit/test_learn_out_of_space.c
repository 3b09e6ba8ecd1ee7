/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_learn_out_of_space.c - teams that learn (HUDDLE_WISDOM) without room for another cell, or
 * without room in the arena for the known choices.
 */
#include "calls.h"
#include "core/call/learn.h"
#include "core/job/decision.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { RANKS = 3, LARGE = 20000, MAX_BYTES = 1 << 20, CALLS = 2 * LEARNER_EVERY };

static struct hud_op sum = {
    .element_bytes = 4, .commutative = 1, .exact = 1, .combine = add_words
};
static const char *const settings[] = { "HUDDLE_WISDOM=on", "HUDDLE_TUNING=off", NULL };

/* ---- a full pool ---- */

static void make(struct rank *r, int kind, size_t bytes)
{
    call_make(r, kind, coll_has(kind, COLL_REDUCES) ? &sum : NULL, bytes, false);
}

/* Opens cells of all sizes of all collectives, except large allreduces, until the pool is full. */
static void fill_pool(struct rank *r)
{
    for (size_t bytes = 8; bytes <= MAX_BYTES; bytes *= 2)
        for (int kind = 0; kind < COLL_KINDS; kind++)
            if (!coll_has(kind, COLL_UNSIZED) && (kind != COLL_ALLREDUCE || bytes < MAX_BYTES / 16))
                make(r, kind, bytes);
}

/* Makes calls of a cell for which there is no room, among them calls on the slow path.  The choice
 * stays in all calls. */
static void stay(struct rank *r, size_t bytes, const struct plan_entry *choice)
{
    const struct learn *l = r->team->hooks.learn;
    int at = plan_at(COLL_ALLREDUCE, bytes);

    for (int n = 0; n < CALLS; n++) {
        make(r, COLL_ALLREDUCE, bytes);
        MUST(r, r->team->plan.entry == choice && r->team->plan.choice[at] == choice);
    }
    MUST(r, l->cell_of[at] == LEARN_FIXED && l->cells == LEARN_CELLS);
}

static void full_pool(struct rank *r)
{
    struct wisdom_table known = { 0 };
    int at = plan_at(COLL_ALLREDUCE, MAX_BYTES / 8);

    rank_handled(r, hud_barrier(r->team));
    MUST(r, plan_cell_at(r->team->plan.shared, at)->tried > 1);
    const struct plan_entry *e = learn_candidate(r->team, at, 1);
    known.known[at].name = hud_wisdom_name(e->row, e->param);
    known.known[at].ns = 1000;
    struct wisdom_start *start = r->team->hooks.learn->start;
    start->table = known;
    hud_learn_fill(r->team, start);
    hud_learn_start(r->team);
    fill_pool(r);
    MUST(r, r->team->hooks.learn->cells == LEARN_CELLS);
    MUST(r, ranks_agree(r, 0, (uint64_t)r->team->hooks.learn->cell[LEARN_CELLS - 1].at));
    stay(r, MAX_BYTES / 16, plan_find(r->team->plan.shared, COLL_ALLREDUCE, MAX_BYTES / 16));
    stay(r, MAX_BYTES / 8, e);
}

static void full_pool_keeps_first_and_known_choices(void **state)
{
    (void)state;
    ranks_run_threads(RANKS, settings, full_pool);
}

/* ---- a full arena ---- */

static _Thread_local bool is_full; /* no room is left for known choices */

size_t __real_hud_arena_reserve(struct arena *arena, size_t bytes, int members, const char **why);
size_t __wrap_hud_arena_reserve(struct arena *arena, size_t bytes, int members, const char **why);

size_t __wrap_hud_arena_reserve(struct arena *arena, size_t bytes, int members, const char **why)
{
    *why = "the test has no room";
    return is_full && members == 1 ? 0 : __real_hud_arena_reserve(arena, bytes, members, why);
}

/* Stores a choice for sums whose order it changes. */
static void know(struct rank *r)
{
    const struct plan_facts *facts = &r->team->plan.shared->facts;
    int at = plan_at(COLL_ALLREDUCE + PLAN_INEXACT, LARGE);
    struct rule rule = hud_wisdom_rule(facts, at);

    hud_decision_set(&rule, &(struct decision_candidate){ -1, 0, NULL });
    rule.ns = 1000;
    hud_wisdom_store(&r->context->learn.wisdom, &r->context->config, &rule, NULL, false);
}

static bool leaves_sums_to_the_host(const struct rank *r)
{
    return r->team->state.now != TEAM_READY ||
           r->team->plan.choice[plan_at(COLL_ALLREDUCE + PLAN_INEXACT, LARGE)]->slot < 0;
}

/* Sets up teams while rank 0 knows something.  Without room for it, a team is refused on all ranks,
 * so no team sums in another order than the others. */
static void no_room(struct rank *r)
{
    MUST(r, hud_barrier(r->teams[0].team) == HUD_OK);
    if (r->rank == 0)
        know(r);
    for (int t = 1; t < r->team_count; t++) {
        r->team = r->teams[t].team;
        is_full = t % 2 == 0;
        int status = hud_barrier(r->team);
        MUST(r, status == (is_full ? HUD_PASS : HUD_OK));
        MUST(r, leaves_sums_to_the_host(r));
    }
    is_full = false;
    MUST(r, mem_count_read(&context_stats(r->context)->teams_refused) == 2);
}

static void team_without_room_for_known_choices_is_refused(void **state)
{
    (void)state;
    ranks_run(&(struct ranks){
        .ranks = RANKS, .teams = 5, .blocking = true, .settings = settings, .body = no_room });
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(full_pool_keeps_first_and_known_choices),
        cmocka_unit_test(team_without_room_for_known_choices_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
