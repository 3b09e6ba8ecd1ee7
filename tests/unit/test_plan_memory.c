/* SPDX-License-Identifier: BSD-3-Clause */
/* test_plan_memory.c - plans made from rules: the layout of a slice, and the memory offered to
 * it. */
#include "plans.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Checks that rules with slots of different shapes have different slots. Rules share a slot if only
 * parameters of single calls differ. */
static void rules_share_slots_of_the_same_shape(void **state)
{
    (void)state;
    plans_tune("bcast bytes=1K-8K -> queue fragment=4K\n"
               "bcast bytes=8K-64K -> queue fragment=8K\n"
               "bcast bytes=64K- -> queue sets=2\n");
    plans_make(4, false, "machine", 256 * KB, true);
    plans_check();
    assert_int_equal(plan_find(&plans.plan, COLL_BCAST, 2 * KB)->slot,
                     plan_find(&plans.plan, COLL_BCAST, 16 * KB)->slot);
    assert_int_not_equal(plan_find(&plans.plan, COLL_BCAST, 2 * KB)->slot,
                         plan_find(&plans.plan, COLL_BCAST, MB)->slot);
    assert_true(plans.plan.total_bytes > 200 * KB);
}

static void every_plan_fits_the_reserved_bytes(void **state)
{
    static const char *const within[] = { "l2",   "l3",     "die",  "group",
                                          "numa", "socket", "unit", "machine" };

    (void)state;
    plans_tune("bcast within=l3 -> inline\n"
               "bcast oversubscribed=yes -> mpi\n"
               "bcast within=l2 -> mpi\n"
               "bcast within=die -> mpi\n"
               "bcast within=group -> mpi\n"
               "bcast within=numa -> mpi\n"
               "bcast within=socket -> mpi\n"
               "allreduce within=unit -> mpi\n"
               "bcast within=unit -> mpi\n"
               "alltoall within=unit -> mpi\n"
               "reduce within=unit -> mpi\n");
    for (size_t max = 0; max < 300 * KB; max += 1777)
        for (int windows = 0; windows < 2; windows++) {
            size_t reserved = hud_plan_bytes(plans.planner, 8, max, windows, &plans.direct);
            for (int w = 0; w < 8; w++)
                for (int oversubscribed = 0; oversubscribed < 2; oversubscribed++) {
                    plans.direct = (w + oversubscribed) % 2;
                    plans.divided = w % 2;
                    plans_make(8, oversubscribed, within[w], max, windows);
                    plans_check();
                    assert_true(plans.plan.total_bytes <= reserved);
                }
        }
}

/* Counts the teams of an arena, each with the memory of its offer. */
static int count_teams(int ranks)
{
    size_t arena = 10 * MB, left = arena;
    int teams = 0;
    bool direct;

    for (;; teams++) {
        size_t offer = hud_plan_offer(plans.planner, ranks, arena, left),
               bytes = offer != 0 ? hud_plan_bytes(plans.planner, ranks, offer, true, &direct) : 0;
        if (bytes == 0 || bytes > left)
            return teams;
        left -= bytes;
    }
}

static void other_candidates_cost_few_teams(void **state)
{
    static const int ranks[] = { 2, 4, 8 };

    (void)state;
    for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++) {
        PLANS_SETTINGS("HUDDLE_WISDOM=off");
        plans_tune("");
        int off = count_teams(ranks[i]);
        PLANS_SETTINGS("HUDDLE_WISDOM=on");
        plans_tune("");
        int on = count_teams(ranks[i]);
        assert_true(off > 20 && on * 100 >= off * 85);
        size_t reserved = hud_plan_bytes(plans.planner, ranks[i], MB, true, &plans.direct);
        for (int oversubscribed = 0; oversubscribed < 2; oversubscribed++) {
            plans_make(ranks[i], oversubscribed, "machine", MB, true);
            plans_check();
            assert_true(plans.plan.total_bytes <= reserved);
        }
        plans.direct = false;
    }
}

static const char *const places[] = { "machine", "numa", "l3", "l2", "socket", "die", "group" };
enum { PLACES = sizeof places / sizeof *places, WAYS = 12 };

static bool reaches_into_others(const struct plan *plan)
{
    bool reaches = false;

    for (int s = 0; s < plan->slots; s++)
        reaches = reaches || hud_shm_algs[plan->slot[s].row]->family->direct;
    return reaches;
}

/* Checks that the reserved bytes are the largest plan of all places. Returns the number of plans
 * made for this. */
static unsigned reserved_is_the_largest(int ranks, bool windows)
{
    struct planner *planner = hud_planner_create(&plans.config, &plans.tuning);
    size_t most = 0;
    bool reaches = false, said;

    for (int i = 0; i < WAYS * PLACES; i++) {
        struct plan_facts facts = { .ranks = ranks,
                                    .oversubscribed = i % 2,
                                    .divided = i / 2 % 2,
                                    .direct = i / 4 % 3 > 0,
                                    .quick = i / 4 % 3 > 1 };
        strcpy(facts.within, places[i / WAYS]);
        hud_plan_make(planner, &facts, MB, windows, &plans.plan);
        if (plans.plan.total_bytes > most)
            most = plans.plan.total_bytes;
        reaches = reaches || reaches_into_others(&plans.plan);
    }
    unsigned made = hud_planner_made(planner);
    assert_int_equal(hud_plan_bytes(planner, ranks, MB, windows, &said), most);
    assert_true(said == reaches);
    made = hud_planner_made(planner) - made;
    hud_planner_free(planner);
    return made;
}

/* Verifies that a planner skips teams whose plan was already made. */
static void equal_plans_are_made_once(void **state)
{
    static const char *const settings[] = { "HUDDLE_LEASE=1M", "HUDDLE_BCAST=cma_read",
                                            "HUDDLE_REDUCE_ORDER=fixed" };

    (void)state;
    for (size_t s = 0; s < sizeof settings / sizeof *settings; s++) {
        PLANS_SETTINGS(settings[s]);
        for (int ranks = 2; ranks <= 64; ranks += ranks < 5 ? 1 : ranks)
            for (int windows = 0; windows < 2; windows++)
                assert_true(reserved_is_the_largest(ranks, windows) < WAYS);
    }
    /* these rows depend on the place, but not for this number of ranks */
    plans_tune("bcast ranks=9 within=l3 -> mpi\n"
               "bcast ranks=9 within=numa -> mpi\n");
    assert_true(reserved_is_the_largest(4, true) < WAYS);
}

/* Uses more rows than are compared, so every plan is made. */
static void all_plans_of_a_long_table_are_made(void **state)
{
    enum { ROWS = PLAN_RULES + 8, ROW = 64 };
    char *text = calloc(ROWS, ROW);

    (void)state;
    assert_non_null(text);
    for (int i = 0; i < ROWS; i++)
        sprintf(text + strlen(text), "bcast bytes=%d within=l3 -> %s\n", i,
                i % 2 != 0 ? "mpi" : "queue");
    plans_tune(text);
    free(text);
    assert_true(reserved_is_the_largest(4, true) >= WAYS);
}

static void offers_shrink_to_control_lines_and_then_to_nothing(void **state)
{
    size_t control = hud_plan_bytes(plans.planner, 8, SIZE_MAX / 2, false, &plans.direct);

    (void)state;
    assert_int_equal(hud_plan_offer(plans.planner, 8, 10 * MB, 10 * MB), 1536 * KB);
    assert_int_equal(hud_plan_offer(plans.planner, 8, 10 * MB, 400 * KB), 100 * KB);
    assert_int_equal(hud_plan_offer(plans.planner, 8, 10 * MB, 2 * control), control);
    assert_int_equal(hud_plan_offer(plans.planner, 8, 10 * MB, control - 1), 0);
    plans_make(8, false, "machine", control, true);
    plans_check();
    assert_string_equal(plans_taker(COLL_BCAST, 8), "inline");
}

/* Compares with a new planner, for more teams than a planner keeps. */
static void cached_plans_equal_new_plans(void **state)
{
    (void)state;
    for (int pass = 0; pass < 2; pass++)
        for (int ranks = 2; ranks < 26; ranks++)
            for (int windows = 0; windows < 2; windows++) {
                struct planner *fresh = hud_planner_create(&plans.config, &plans.tuning);
                bool direct[3];
                size_t bytes = hud_plan_bytes(fresh, ranks, MB, windows, &direct[0]);
                assert_int_equal(hud_plan_bytes(plans.planner, ranks, MB, windows, &direct[1]),
                                 bytes);
                unsigned made = hud_planner_made(plans.planner);
                assert_int_equal(hud_plan_bytes(plans.planner, ranks, MB, windows, &direct[2]),
                                 bytes);
                assert_int_equal(hud_planner_made(plans.planner), made);
                assert_true(direct[0] == direct[1] && direct[1] == direct[2]);
                hud_planner_free(fresh);
            }
}

/* Verifies the order for little memory, and for many teams before. */
static void fixed_order_is_kept_with_little_memory(void **state)
{
    (void)state;
    PLANS_SETTINGS("HUDDLE_REDUCE_ORDER=fixed");
    for (int ranks = 2; ranks <= 128; ranks *= 2) {
        size_t min = hud_plan_offer(plans.planner, ranks, 10 * MB, 10 * MB), free_bytes = 10 * MB;
        int teams = 0;
        for (size_t offer; (offer = hud_plan_offer(plans.planner, ranks, 10 * MB, free_bytes)) != 0;
             teams++) {
            min = offer < min ? offer : min;
            free_bytes -= hud_plan_bytes(plans.planner, ranks, offer, true, &plans.direct);
        }
        assert_true(teams >= (ranks <= 16 ? 200 : 50));
        for (size_t bytes = min; bytes < min + 300 * KB; bytes += 7777)
            for (int facts = 0; facts < 4; facts++) {
                plans.direct = facts / 2;
                plans_make(ranks, facts % 2, "machine", bytes, true);
                plans_check();
                for (int kind = COLL_REDUCE; kind <= COLL_REDUCE_SCATTER; kind++)
                    for (int class = 0; class < PLAN_CLASSES; class ++) {
                        const struct plan_entry *e =
                            plan_find(&plans.plan, kind, plan_class_bytes(class));
                        assert_true(e->slot >= 0 && hud_shm_algs[e->row]->ordered);
                    }
            }
    }
}

/* Forces an algorithm whose slot is smaller than the memory. Messages that fit the slot are
 * handled, and larger messages fall back. */
static void small_slot_handles_small_messages(void **state)
{
    (void)state;
    PLANS_SETTINGS("HUDDLE_ALLTOALL=inline", "HUDDLE_LAB_ALLTOALL_INLINE_BUDGET=1M");
    plans_make(8, false, "machine", 256 * KB, true);
    plans_check();
    const struct plan_entry *e = plan_find(&plans.plan, COLL_ALLTOALL, 8);
    assert_string_equal(plans_taker(COLL_ALLTOALL, 8), "inline");
    size_t room = plans.plan.slot[e->slot].place.slot_bytes / 2, max_bytes = 8;
    while (strcmp(plans_taker(COLL_ALLTOALL, max_bytes + 1), "inline") == 0)
        max_bytes *= 2;
    assert_true(room < 100 * KB && max_bytes * 7 <= room && 2 * max_bytes * 7 > room - HUD_LINE);
}

/* Compares with paper 01, "Segment": W ceil(4p/W) + q W + p s (W + f) is 780 KiB for p = 8, s = 8,
 * f = 8K, q = 2, W = 4K. A control block is a page there, for its placement. Here a control block
 * is a line for each 4K of a slice, which is placed as a whole. */
static void queue_needs_at_most_the_bytes_of_the_paper(void **state)
{
    enum { P = 8, S = 8, F = 8192, Q = 2, W = 4096 };
    size_t paper = W * ((4 * P + W - 1) / W) + Q * W + P * S * (W + F);

    (void)state;
    assert_int_equal(paper, 780 * KB);
    PLANS_SETTINGS("HUDDLE_LAB_BCAST_QUEUE_FRAGMENT=8K", "HUDDLE_LAB_BCAST_QUEUE_BUFFERS=8",
                   "HUDDLE_LAB_BCAST_QUEUE_SETS=2", "HUDDLE_BCAST=queue");
    plans_make(P, false, "machine", 1 * MB, true);
    int slot = plan_find(&plans.plan, COLL_BCAST, MB)->slot;
    size_t bytes = alg_place_bytes(&plans.plan.slot[slot].place);
    assert_int_equal(bytes, 2 * HUD_LINE + S * F + S * F / W * HUD_LINE);
    assert_true(P * bytes <= paper);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(rules_share_slots_of_the_same_shape, plans_reset),
        cmocka_unit_test_setup(other_candidates_cost_few_teams, plans_reset),
        cmocka_unit_test_setup(every_plan_fits_the_reserved_bytes, plans_reset),
        cmocka_unit_test_setup(equal_plans_are_made_once, plans_reset),
        cmocka_unit_test_setup(all_plans_of_a_long_table_are_made, plans_reset),
        cmocka_unit_test_setup(offers_shrink_to_control_lines_and_then_to_nothing, plans_reset),
        cmocka_unit_test_setup(cached_plans_equal_new_plans, plans_reset),
        cmocka_unit_test_setup(fixed_order_is_kept_with_little_memory, plans_reset),
        cmocka_unit_test_setup(small_slot_handles_small_messages, plans_reset),
        cmocka_unit_test_setup(queue_needs_at_most_the_bytes_of_the_paper, plans_reset),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);

    plans_reset(NULL);
    return failed;
}
