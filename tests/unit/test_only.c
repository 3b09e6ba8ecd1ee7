/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_only.c - teams whose calls are all alike, each with one request: started in an order that
 * differs from rank to rank, refused on all ranks alike, small in memory.
 */
#define _GNU_SOURCE
#include "core/choose/making.h"
#include "core/team/team.h"
#include "gang.h"
#include "plans.h"

#include <stdlib.h>

enum { MANY = 60, TURNS = 30 };

static struct hud_op words[] = {
    { .element_bytes = 4, .commutative = 1, .combine = crew_add, .name = "sum" },
    { .element_bytes = 12, .combine = crew_compose, .name = "compose" },
    { .element_bytes = HUD_ELEMENT_MAX + 4, .commutative = 1, .combine = crew_add, .name = "large" }
};

static const char *const plain[] = { "HUDDLE_TUNING=off", "HUDDLE_LOG=quiet", NULL };

static void run_gang(int ranks, int teams, bool forks, const char *const *settings,
                     void (*body)(struct gang_member *m))
{
    struct gang g = { .ranks = ranks, .teams = teams, .forks = forks, .body = body };

    for (int r = 0; r < GANG_RANKS; r++)
        g.settings[r] = settings;
    gang_run(&g);
}

/* A call of a collective, and a team of its own for it. */
struct own {
    struct gang_team *t;
    struct crew_call *call;
    hud_request *request;
    int status; /* of the set-up */
};

static void begin(struct gang_member *m, struct own *o, int at, int kind, const struct hud_op *op,
                  size_t bytes)
{
    const struct crew_what what = {
        kind, at, m->ranks, op, bytes / op->element_bytes * op->element_bytes, false
    };

    o->t = &m->team[at];
    o->call = crew_begin(&what, m->rank);
    gang_make_for(o->t, crew_args(o->call));
    MUST(m, hud_request_create(o->t->team, crew_args(o->call), NULL, &o->request) == HUD_OK);
    o->status = hud_team_set_up(o->t->team);
}

static void end(struct gang_member *m, struct own *o)
{
    hud_request_free(o->request);
    gang_free_team(o->t);
    MUST(m, crew_end(o->call));
}

static void land(struct gang_member *m, struct own *o)
{
    MUST(m, hud_request_wait(o->request) == HUD_OK);
    MUST(m, crew_check(o->call));
}

/* All collectives; each rank starts, and waits, in an order of its own. */
static void any_order(struct gang_member *m)
{
    struct own own[3 * COLL_KINDS];
    enum { COUNT = sizeof own / sizeof *own };
    static const unsigned steps[] = { 1, COUNT - 1, 2, 7 }; /* all requests, in some order */
    unsigned seed = (unsigned)m->rank * 7 + 1;

    for (int i = 0; i < COUNT; i++) {
        begin(m, &own[i], i, i % COLL_KINDS, &words[i % 2], i < COLL_KINDS ? 24 : 900 * (size_t)i);
        MUST(m, own[i].status == HUD_OK);
        MUST(m, own[i].t->team->plan->slots == 1);
    }
    for (int turn = 0; turn < TURNS; turn++) {
        unsigned first = (unsigned)rand_r(&seed) % COUNT;
        for (unsigned i = 0; i < COUNT; i++)
            MUST(m, hud_request_start(own[(first + i * steps[m->rank]) % COUNT].request) == HUD_OK);
        for (unsigned i = 0; i < COUNT; i++)
            land(m, &own[(first + i * steps[(m->rank + turn) % 4]) % COUNT]);
    }
    for (int i = 0; i < COUNT; i++)
        end(m, &own[i]);
}

static void each_rank_starts_in_an_order_of_its_own(void **state)
{
    (void)state;
    hud_op_find(HUD_SUM, HUD_UINT32, &words[0]);
    for (int ranks = 2; ranks <= GANG_RANKS; ranks++)
        for (int forks = 0; forks < 2; forks++)
            run_gang(ranks, 3 * COLL_KINDS, forks, plain, any_order);
}

/* As many as there is memory for, and no more on any rank; it can be had again. */
static void more_than_memory(struct gang_member *m)
{
    struct own own[MANY];
    uint64_t handled[2] = { 0, 0 };

    for (int turn = 0; turn < 2; turn++) {
        int count = MANY / 2, from = turn * count;
        for (int i = 0; i < count; i++) {
            begin(m, &own[i], from + i, COLL_ALLREDUCE, &words[0], 2000);
            handled[turn] = handled[turn] * 2 + (own[i].status == HUD_OK);
            MUST(m, own[i].status == HUD_OK || own[i].status == HUD_PASS);
            MUST(m, (hud_request_start(own[i].request) == HUD_OK) == (own[i].status == HUD_OK));
        }
        for (int i = count - 1; i >= 0; i--)
            if (own[i].status == HUD_OK)
                land(m, &own[i]);
        for (int i = 0; i < count; i++)
            end(m, &own[i]);
        gang_meet(m);
    }
    MUST(m, handled[0] != 0 && handled[0] != (1u << MANY / 2) - 1);
    MUST(m, handled[0] == handled[1]);
    MUST(m, gang_agrees(m, 0, handled[0]));
}

static void memory_is_short_on_all_ranks_alike(void **state)
{
    static const char *const settings[] = { "HUDDLE_MEMORY=512K", "HUDDLE_LOG=quiet",
                                            "HUDDLE_TUNING=off", NULL };

    (void)state;
    run_gang(3, MANY, false, settings, more_than_memory);
}

/* What one rank cannot do, or does otherwise, none does. */
static void refusals(struct gang_member *m)
{
    struct own own;
    struct hud_view view = { .base = m, .bytes = 0 };
    struct hud_args unlike = { .collective = m->rank ? COLL_BARRIER : COLL_BCAST, .out = &view };

    begin(m, &own, 0, COLL_ALLREDUCE, &words[2], HUD_ELEMENT_MAX + 4);
    MUST(m, own.status == HUD_PASS);
    end(m, &own);
    gang_make_for(&m->team[1], &unlike);
    MUST(m, hud_team_set_up(m->team[1].team) == HUD_PASS);
    gang_make_for(&m->team[2], &(struct hud_args){ .collective = COLL_BARRIER });
    if (m->rank == 1)
        hud_team_decline(m->team[2].team);
    MUST(m, hud_team_set_up(m->team[2].team) == HUD_PASS);
    MUST(m, hud_team_set_up(NULL) == HUD_ERR_ARGUMENT);
}

static void what_one_rank_cannot_do_none_does(void **state)
{
    (void)state;
    run_gang(3, 3, false, plain, refusals);
}

/* Not handled, so that a host knows it before the first start. */
static void all_pass(struct gang_member *m)
{
    struct own own;

    begin(m, &own, 0, COLL_ALLREDUCE, &words[0], 100);
    MUST(m, own.status == HUD_PASS);
    end(m, &own);
}

static void settings_are_known_at_the_set_up(void **state)
{
    static const char *const off[] = { "HUDDLE_NONBLOCKING=off", "HUDDLE_LOG=quiet", NULL },
                             *const forced[] = { "HUDDLE_ALLREDUCE=mpi", "HUDDLE_LOG=quiet", NULL };

    (void)state;
    run_gang(2, 1, false, off, all_pass);
    run_gang(2, 1, false, forced, all_pass);
}

/* HUDDLE_FIRST does not count; nobody frees the team, but the context's end does. */
static void left(struct gang_member *m)
{
    struct own own;

    begin(m, &own, 0, COLL_BARRIER, &words[0], 4);
    MUST(m, own.status == HUD_OK);
    MUST(m, hud_request_start(own.request) == HUD_OK);
    land(m, &own);
    MUST(m, crew_end(own.call));
    own.t->team = NULL;
}

static void what_is_left_ends_with_the_context(void **state)
{
    static const char *const first[] = { "HUDDLE_FIRST=5", "HUDDLE_LOG=quiet", NULL };

    (void)state;
    run_gang(2, 1, false, first, left);
}

/* A receiver that has asked for less than the root sends finds that out, and goes on. */
static void truncated(struct gang_member *m)
{
    char buffer[3000];
    struct hud_view view = { .base = buffer, .bytes = m->rank == 1 ? 100 : sizeof buffer };
    const struct hud_args args = { .collective = COLL_BCAST, .out = &view };
    hud_request *r = NULL;

    gang_make_for(&m->team[0], &args);
    MUST(m, hud_team_set_up(m->team[0].team) == HUD_OK);
    MUST(m, hud_request_create(m->team[0].team, &args, NULL, &r) == HUD_OK);
    for (int turn = 0; turn < TURNS; turn++) {
        memset(buffer, m->rank == 0 ? turn : -1, sizeof buffer);
        MUST(m, hud_request_start(r) == HUD_OK);
        MUST(m, hud_request_wait(r) == (m->rank == 1 ? HUD_ERR_TRUNCATE : HUD_OK));
        MUST(m, buffer[99] == turn);
    }
    hud_request_free(r);
}

static void a_broadcast_may_be_truncated(void **state)
{
    (void)state;
    run_gang(3, 1, false, plain, truncated);
}

/* The slice holds one algorithm: that which all of a lease would give. */
static void slices_are_small(void **state)
{
    (void)state;
    plans_reset(NULL);
    for (int axis = 0; axis < PLAN_AXES; axis++)
        for (int ranks = 2; ranks <= 512; ranks *= 4)
            for (size_t bytes = 8; bytes <= 64 * MB; bytes *= 8) {
                struct plan_facts facts = { .ranks = ranks,
                                            .within = "machine",
                                            .only = { true, axis, bytes } };
                static struct plan all, least;
                size_t max, lease = hud_plan_lease_bytes(&plans.config);
                bool direct;
                size_t reserved =
                    hud_plan_only_bytes(plans.planner, ranks, &facts.only, &max, &direct);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_rank_starts_in_an_order_of_its_own),
        cmocka_unit_test(memory_is_short_on_all_ranks_alike),
        cmocka_unit_test(what_one_rank_cannot_do_none_does),
        cmocka_unit_test(settings_are_known_at_the_set_up),
        cmocka_unit_test(what_is_left_ends_with_the_context),
        cmocka_unit_test(a_broadcast_may_be_truncated),
        cmocka_unit_test(slices_are_small),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
