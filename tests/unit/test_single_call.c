/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_single_call.c - teams for a single kind of call, each with one request. Requests are started
 * in a different order on each rank, calls fall back on all ranks alike, and teams need little
 * memory.
 */
#define _GNU_SOURCE
#include "calls.h"
#include "core/plan/plan_builder.h"
#include "core/team/team.h"
#include "plans.h"

#include <stdlib.h>

enum { RANKS = 4, MANY = 60, TURNS = 30 };

static struct hud_op words[] = {
    { .element_bytes = 4, .commutative = 1, .combine = add_words, .name = "sum" },
    { .element_bytes = 12, .combine = compose_words, .name = "compose" },
    { .element_bytes = HUD_ELEMENT_MAX + 4,
      .commutative = 1,
      .combine = add_words,
      .name = "large" }
};

static const char *const plain[] = { "HUDDLE_TUNING=off", "HUDDLE_LOG=quiet", NULL };

static void run(int ranks, int teams, bool processes, const char *const *settings,
                void (*body)(struct rank *me))
{
    ranks_run(&(struct ranks){ .ranks = ranks,
                               .teams = teams,
                               .processes = processes,
                               .settings = settings,
                               .body = body });
}

/* A call of a collective, and its own team. */
struct own {
    struct rank_team *t;
    struct call *call;
    hud_request *request;
    int status; /* status of the set-up */
};

static void begin(struct rank *me, struct own *o, int at, int kind, const struct hud_op *op,
                  size_t bytes)
{
    const struct call_what what = {
        kind, at, me->ranks, op, bytes / op->element_bytes * op->element_bytes, false
    };

    o->t = &me->teams[at];
    o->call = call_begin(&what, me->rank);
    ranks_make_for(o->t, call_args(o->call));
    MUST(me, hud_request_create(o->t->team, call_args(o->call), NULL, &o->request) == HUD_OK);
    o->status = hud_team_set_up(o->t->team);
}

static void end(struct rank *me, struct own *o)
{
    hud_request_free(o->request);
    ranks_free_team(o->t);
    MUST(me, call_end(o->call));
}

static void land(struct rank *me, struct own *o)
{
    MUST(me, hud_request_wait(o->request) == HUD_OK);
    MUST(me, call_check(o->call));
}

/* Makes all collectives. Each rank starts and waits in a different order. */
static void start_in_any_order(struct rank *me)
{
    struct own own[3 * COLL_KINDS];
    enum { COUNT = sizeof own / sizeof *own };
    static const unsigned steps[] = { 1, COUNT - 1, 2, 7 }; /* all requests, in some order */
    unsigned seed = (unsigned)me->rank * 7 + 1;

    for (int i = 0; i < COUNT; i++) {
        begin(me, &own[i], i, i % COLL_KINDS, &words[i % 2], i < COLL_KINDS ? 24 : 900 * (size_t)i);
        MUST(me, own[i].status == HUD_OK);
        MUST(me, own[i].t->team->plan.shared->slots == 1);
    }
    for (int turn = 0; turn < TURNS; turn++) {
        unsigned first = (unsigned)rand_r(&seed) % COUNT;
        for (unsigned i = 0; i < COUNT; i++)
            MUST(me,
                 hud_request_start(own[(first + i * steps[me->rank]) % COUNT].request) == HUD_OK);
        for (unsigned i = 0; i < COUNT; i++)
            land(me, &own[(first + i * steps[(me->rank + turn) % 4]) % COUNT]);
    }
    for (int i = 0; i < COUNT; i++)
        end(me, &own[i]);
}

static void ranks_may_start_requests_in_any_order(void **state)
{
    (void)state;
    hud_op_find(HUD_SUM, HUD_UINT32, &words[0]);
    for (int ranks = 2; ranks <= RANKS; ranks++)
        for (int processes = 0; processes < 2; processes++)
            run(ranks, 3 * COLL_KINDS, processes, plain, start_in_any_order);
}

/* Creates as many teams as fit the memory, the same number on all ranks. The memory is reusable. */
static void create_more_than_fit(struct rank *me)
{
    struct own own[MANY];
    uint64_t handled[2] = { 0, 0 };

    for (int turn = 0; turn < 2; turn++) {
        int count = MANY / 2, from = turn * count;
        for (int i = 0; i < count; i++) {
            begin(me, &own[i], from + i, COLL_ALLREDUCE, &words[0], 2000);
            handled[turn] = handled[turn] * 2 + (own[i].status == HUD_OK);
            MUST(me, own[i].status == HUD_OK || own[i].status == HUD_PASS);
            MUST(me, (hud_request_start(own[i].request) == HUD_OK) == (own[i].status == HUD_OK));
        }
        for (int i = count - 1; i >= 0; i--)
            if (own[i].status == HUD_OK)
                land(me, &own[i]);
        for (int i = 0; i < count; i++)
            end(me, &own[i]);
        ranks_meet(me);
    }
    MUST(me, handled[0] != 0 && handled[0] != (1u << MANY / 2) - 1);
    MUST(me, handled[0] == handled[1]);
    MUST(me, ranks_agree(me, 0, handled[0]));
}

static void calls_without_memory_fall_back_on_all_ranks(void **state)
{
    static const char *const settings[] = { "HUDDLE_MEMORY=512K", "HUDDLE_LOG=quiet",
                                            "HUDDLE_TUNING=off", NULL };

    (void)state;
    run(3, MANY, false, settings, create_more_than_fit);
}

/* Makes calls impossible or different on a single rank, which must fall back on all ranks. */
static void refuse_on_one_rank(struct rank *me)
{
    struct own own;
    struct hud_view view = { .base = me, .bytes = 0 };
    struct hud_args unlike = { .collective = me->rank ? COLL_BARRIER : COLL_BCAST, .out = &view };

    begin(me, &own, 0, COLL_ALLREDUCE, &words[2], HUD_ELEMENT_MAX + 4);
    MUST(me, own.status == HUD_PASS);
    end(me, &own);
    ranks_make_for(&me->teams[1], &unlike);
    MUST(me, hud_team_set_up(me->teams[1].team) == HUD_PASS);
    ranks_make_for(&me->teams[2], &(struct hud_args){ .collective = COLL_BARRIER });
    if (me->rank == 1)
        hud_team_decline(me->teams[2].team);
    MUST(me, hud_team_set_up(me->teams[2].team) == HUD_PASS);
    MUST(me, hud_team_set_up(NULL) == HUD_ERR_ARGUMENT);
}

static void call_impossible_on_one_rank_falls_back_on_all(void **state)
{
    (void)state;
    run(3, 3, false, plain, refuse_on_one_rank);
}

/* Expects the set-up to report that a call falls back, so a host knows this before the first
 * start. */
static void expect_a_fallback(struct rank *me)
{
    struct own own;

    begin(me, &own, 0, COLL_ALLREDUCE, &words[0], 100);
    MUST(me, own.status == HUD_PASS);
    end(me, &own);
}

static void set_up_reports_calls_that_settings_exclude(void **state)
{
    static const char *const off[] = { "HUDDLE_NONBLOCKING=off", "HUDDLE_LOG=quiet", NULL },
                             *const forced[] = { "HUDDLE_ALLREDUCE=mpi", "HUDDLE_LOG=quiet", NULL };

    (void)state;
    run(2, 1, false, off, expect_a_fallback);
    run(2, 1, false, forced, expect_a_fallback);
}

/* Ignores HUDDLE_FIRST. The team is freed by the context only. */
static void leave_the_team_to_the_context(struct rank *me)
{
    struct own own;

    begin(me, &own, 0, COLL_BARRIER, &words[0], 4);
    MUST(me, own.status == HUD_OK);
    MUST(me, hud_request_start(own.request) == HUD_OK);
    land(me, &own);
    MUST(me, call_end(own.call));
    own.t->team = NULL;
}

static void teams_not_freed_end_with_the_context(void **state)
{
    static const char *const first[] = { "HUDDLE_FIRST=5", "HUDDLE_LOG=quiet", NULL };

    (void)state;
    run(2, 1, false, first, leave_the_team_to_the_context);
}

/* Broadcasts to a receiver with a smaller buffer, which must get an error and continue. */
static void broadcast_to_a_small_buffer(struct rank *me)
{
    char buffer[3000];
    struct hud_view view = { .base = buffer, .bytes = me->rank == 1 ? 100 : sizeof buffer };
    const struct hud_args args = { .collective = COLL_BCAST, .out = &view };
    hud_request *r = NULL;

    ranks_make_for(&me->teams[0], &args);
    MUST(me, hud_team_set_up(me->teams[0].team) == HUD_OK);
    MUST(me, hud_request_create(me->teams[0].team, &args, NULL, &r) == HUD_OK);
    for (int turn = 0; turn < TURNS; turn++) {
        memset(buffer, me->rank == 0 ? turn : -1, sizeof buffer);
        MUST(me, hud_request_start(r) == HUD_OK);
        MUST(me, hud_request_wait(r) == (me->rank == 1 ? HUD_ERR_TRUNCATE : HUD_OK));
        MUST(me, buffer[99] == turn);
    }
    hud_request_free(r);
}

static void a_broadcast_may_be_truncated(void **state)
{
    (void)state;
    run(3, 1, false, plain, broadcast_to_a_small_buffer);
}

/* Verifies that a slice holds a single algorithm, the same as in a plan with the whole lease. */
static void slice_holds_one_algorithm_only(void **state)
{
    (void)state;
    plans_reset(NULL);
    for (int axis = 0; axis < PLAN_AXES; axis++)
        for (int ranks = 2; ranks <= 512; ranks *= 4)
            for (size_t bytes = 8; bytes <= 64 * MB; bytes *= 8) {
                struct plan_facts facts = { .ranks = ranks,
                                            .within = "machine",
                                            .single_call = { true, axis, bytes } };
                static struct plan all, least;
                size_t max, lease = hud_plan_lease_bytes(&plans.config);
                bool direct;
                size_t reserved = hud_plan_single_call_bytes(plans.planner, ranks,
                                                             &facts.single_call, &max, &direct);
                if (axis >= COLL_KINDS && !coll_has(axis % COLL_KINDS, COLL_REDUCES))
                    continue;
                hud_plan_make(plans.planner, &facts, lease, true, &all);
                hud_plan_make(plans.planner, &facts, max, true, &least);
                assert_int_equal(least.slots, 1);
                assert_int_equal(plan_find(&least, axis, bytes)->slot, 0);
                assert_int_equal(plan_find(&least, axis, bytes)->row,
                                 plan_find(&all, axis, bytes)->row);
                assert_true(least.total_bytes <= reserved && reserved <= max && max <= lease);
                if (bytes == 8 && ranks <= 32 && !coll_has(axis % COLL_KINDS, COLL_UNSIZED))
                    assert_in_range(reserved, 1, 40 * KB);
            }
}

/* Verifies that also a slot for calls without bytes must be large enough. */
static void slot_without_room_is_found(void **state)
{
    const size_t sizes[] = { 0, 8 };

    (void)state;
    plans_reset(NULL);
    for (int axis = 0; axis < COLL_KINDS; axis++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            struct plan_facts facts = { .ranks = 4,
                                        .within = "machine",
                                        .single_call = { true, axis, sizes[i] } };
            static struct plan plan;
            hud_plan_make(plans.planner, &facts, hud_plan_lease_bytes(&plans.config), true, &plan);
            assert_int_equal(plan.slots, 1);
            assert_int_equal(hud_plan_builder_check(&plans.planner->builder), -1);
            plan.slot[0].place.slot_bytes = 0;
            assert_int_equal(hud_plan_builder_check(&plans.planner->builder), 0);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_may_start_requests_in_any_order),
        cmocka_unit_test(calls_without_memory_fall_back_on_all_ranks),
        cmocka_unit_test(call_impossible_on_one_rank_falls_back_on_all),
        cmocka_unit_test(set_up_reports_calls_that_settings_exclude),
        cmocka_unit_test(teams_not_freed_end_with_the_context),
        cmocka_unit_test(a_broadcast_may_be_truncated),
        cmocka_unit_test(slice_holds_one_algorithm_only),
        cmocka_unit_test(slot_without_room_is_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
