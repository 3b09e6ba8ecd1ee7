/* SPDX-License-Identifier: BSD-3-Clause */
/* test_plan_memory.c - from rules to a plan: what a slice holds, and what of it is on offer. */
#include "plans.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Slots of different shapes stand side by side; what differs only from call to call shares one. */
static void rules_share_a_slot_unless_it_has_another_shape(void **state)
{
    (void)state;
    plans_tune("[[bcast]]\nbytes = \"1K-8K\"\nalgorithm = \"queue\"\ntree = \"chain\"\n"
               "[[bcast]]\nbytes = \"8K-64K\"\nalgorithm = \"queue\"\ntree = \"flat\"\n"
               "[[bcast]]\nbytes = \"64K-\"\nalgorithm = \"queue\"\nsets = 2\n");
    plans_make(4, false, "machine", 256 * KB, true);
    plans_check();
    assert_int_equal(plan_find(&plans.plan, COLL_BCAST, 2 * KB)->slot,
                     plan_find(&plans.plan, COLL_BCAST, 16 * KB)->slot);
    assert_int_not_equal(plan_find(&plans.plan, COLL_BCAST, 2 * KB)->slot,
                         plan_find(&plans.plan, COLL_BCAST, MB)->slot);
    assert_true(plans.plan.total_bytes > 200 * KB);
}

static void whatever_the_place_the_plan_fits_what_was_reserved(void **state)
{
    static const char *const within[] = { "l2",   "l3",     "die",  "group",
                                          "numa", "socket", "unit", "machine" };

    (void)state;
    plans_tune("[[bcast]]\nwithin = \"l3\"\nalgorithm = \"inline\"\n[[bcast]]\noversubscribed = "
               "true\nalgorithm = \"mpi\"\n"
               "[[bcast]]\nwithin = \"l2\"\nalgorithm = \"mpi\"\n"
               "[[bcast]]\nwithin = \"die\"\nalgorithm = \"mpi\"\n"
               "[[bcast]]\nwithin = \"group\"\nalgorithm = \"mpi\"\n"
               "[[bcast]]\nwithin = \"numa\"\nalgorithm = \"mpi\"\n"
               "[[bcast]]\nwithin = \"socket\"\nalgorithm = \"mpi\"\n"
               "[[allreduce]]\nwithin = \"unit\"\nalgorithm = \"mpi\"\n"
               "[[bcast]]\nwithin = \"unit\"\nalgorithm = \"mpi\"\n"
               "[[alltoall]]\nwithin = \"unit\"\nalgorithm = \"mpi\"\n"
               "[[reduce]]\nwithin = \"unit\"\nalgorithm = \"mpi\"\n");
    for (size_t max = 0; max < 300 * KB; max += 1777)
        for (int windows = 0; windows < 2; windows++) {
            size_t reserved = hud_plan_bytes(plans.planner, 8, max, windows, &plans.direct);
            for (int w = 0; w < 8; w++)
                for (int oversubscribed = 0; oversubscribed < 2; oversubscribed++) {
                    plans.direct = (w + oversubscribed) % 2;
                    plans.divided = w % 2;
                    plans.intel = w / 2 % 2;
                    plans_make(8, oversubscribed, within[w], max, windows);
                    plans_check();
                    assert_true(plans.plan.total_bytes <= reserved);
                }
        }
}

static const char *const places[] = { "machine", "numa", "l3", "l2", "socket", "die", "group" };
enum { PLACES = sizeof places / sizeof *places, WAYS = 24 };

static bool reaches_into_others(const struct plan *plan)
{
    bool reaches = false;

    for (int s = 0; s < plan->slots; s++)
        reaches = reaches || hud_shm_algs[plan->slot[s].row]->family->direct;
    return reaches;
}

/* What is reserved is the largest plan of all places.  Returns how many plans that took. */
static unsigned reserved_is_the_largest(int ranks, bool windows)
{
    struct planner *planner = hud_planner_create(&plans.config, &plans.tuning);
    size_t most = 0;
    bool reaches = false, said;

    for (int i = 0; i < WAYS * PLACES; i++) {
        struct plan_facts facts = { .ranks = ranks,
                                    .oversubscribed = i % 2,
                                    .intel = i / 2 % 2,
                                    .divided = i / 4 % 2,
                                    .direct = i / 8 % 3 > 0,
                                    .quick = i / 8 % 3 > 1 };
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

/* A planner passes over teams whose plan it has seen. */
static void plans_that_are_alike_are_made_once(void **state)
{
    static const char *const settings[] = { "HUDDLE_LEASE=1M", "HUDDLE_BCAST=single",
                                            "HUDDLE_ADAPT=on", "HUDDLE_REDUCE_ORDER=fixed" };

    (void)state;
    for (size_t s = 0; s < sizeof settings / sizeof *settings; s++) {
        PLANS_SETTINGS(settings[s]);
        for (int ranks = 2; ranks <= 64; ranks += ranks < 5 ? 1 : ranks)
            for (int windows = 0; windows < 2; windows++)
                assert_true(reserved_is_the_largest(ranks, windows) < WAYS);
    }
    /* these rows ask where ranks are, but serve none of so many */
    plans_tune("[[bcast]]\nranks = 9\nwithin = \"l3\"\nalgorithm = \"mpi\"\n"
               "[[bcast]]\nranks = 9\nwithin = \"numa\"\nalgorithm = \"mpi\"\n");
    assert_true(reserved_is_the_largest(4, true) < WAYS);
}

/* More rows than are compared: every plan is made. */
static void plans_of_a_long_table_are_all_made(void **state)
{
    enum { ROWS = PLAN_RULES + 8, ROW = 64 };
    char *text = calloc(ROWS, ROW);

    (void)state;
    assert_non_null(text);
    for (int i = 0; i < ROWS; i++)
        sprintf(text + strlen(text),
                "[[bcast]]\nbytes = \"%d\"\nwithin = \"l3\"\nalgorithm = \"%s\"\n", i,
                i % 2 != 0 ? "mpi" : "queue");
    plans_tune(text);
    free(text);
    assert_true(reserved_is_the_largest(4, true) >= WAYS);
}

static void offers_are_a_quarter_then_control_lines_then_nothing(void **state)
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

/* Of many teams in turn, more than a planner keeps, each gets what a new planner would say. */
static void what_is_kept_is_what_would_be_computed(void **state)
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

/* However little a team is offered, and however many there are before it. */
static void fixed_order_holds_where_memory_is_short(void **state)
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
                    for (int e = plans.plan.first[kind]; e < plans.plan.first[kind + 1]; e++)
                        assert_true(plans.plan.entry[e].slot >= 0 &&
                                    hud_shm_algs[plans.plan.entry[e].row]->ordered);
            }
    }
}

/* Its slot holds less than all the memory would: what that still takes it serves, and the rest goes
 * to others. */
static void a_small_slot_serves_small_messages(void **state)
{
    (void)state;
    PLANS_SETTINGS("HUDDLE_ALLTOALL=inline", "HUDDLE_ALLTOALL_INLINE_BUDGET=1M");
    plans_make(8, false, "machine", 256 * KB, true);
    plans_check();
    const struct plan_entry *e = plan_find(&plans.plan, COLL_ALLTOALL, 8);
    assert_string_equal(plans_taker(COLL_ALLTOALL, 8), "inline");
    assert_string_equal(plans_taker(COLL_ALLTOALL, e->max_bytes + 1), "mpi");
    size_t room = plans.plan.slot[e->slot].place.slot_bytes / 2;
    assert_true(room < 100 * KB && e->max_bytes * 7 <= room &&
                (e->max_bytes + 1) * 7 > room - HUD_LINE);
}

/* Paper 01, "Segment": W ceil(4p/W) + q W + p s (W + f) is 780 KiB for p = 8, s = 8, f = 8K, q = 2,
   W = 4K.  A control block is a page there, so that it can be placed; here it is a line for each 4K
   of a slice that is placed as a whole. */
static void queue_takes_no_more_than_the_paper(void **state)
{
    enum { P = 8, S = 8, F = 8192, Q = 2, W = 4096 };
    size_t paper = W * ((4 * P + W - 1) / W) + Q * W + P * S * (W + F);

    (void)state;
    assert_int_equal(paper, 780 * KB);
    PLANS_SETTINGS("HUDDLE_BCAST_QUEUE_FRAGMENT=8K", "HUDDLE_BCAST_QUEUE_BUFFERS=8",
                   "HUDDLE_BCAST_QUEUE_SETS=2", "HUDDLE_BCAST=queue");
    plans_make(P, false, "machine", 1 * MB, true);
    int slot = plan_find(&plans.plan, COLL_BCAST, MB)->slot;
    size_t bytes = alg_place_bytes(&plans.plan.slot[slot].place);
    assert_int_equal(bytes, 2 * HUD_LINE + S * F + S * F / W * HUD_LINE);
    assert_true(P * bytes <= paper);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(rules_share_a_slot_unless_it_has_another_shape, plans_reset),
        cmocka_unit_test_setup(whatever_the_place_the_plan_fits_what_was_reserved, plans_reset),
        cmocka_unit_test_setup(plans_that_are_alike_are_made_once, plans_reset),
        cmocka_unit_test_setup(plans_of_a_long_table_are_all_made, plans_reset),
        cmocka_unit_test_setup(offers_are_a_quarter_then_control_lines_then_nothing, plans_reset),
        cmocka_unit_test_setup(what_is_kept_is_what_would_be_computed, plans_reset),
        cmocka_unit_test_setup(fixed_order_holds_where_memory_is_short, plans_reset),
        cmocka_unit_test_setup(a_small_slot_serves_small_messages, plans_reset),
        cmocka_unit_test_setup(queue_takes_no_more_than_the_paper, plans_reset),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);

    plans_reset(NULL);
    return failed;
}
