/* SPDX-License-Identifier: BSD-3-Clause */
/* test_lanes.c - a poll that finds nothing yields where ranks outnumber processors, and only there.
 */
#include "request/lanes.h"

#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static int yields;

/* In place of the C library's. */
int sched_yield(void)
{
    yields++;
    return 0;
}

struct asking {
    struct lane_task task;
    bool yes;
};

static bool answer(void *arg)
{
    const struct asking *asking = arg;

    return asking->yes;
}

static void run(struct lane_task *task, struct strand *strand)
{
    hud_strand_ask(strand, answer, task);
}

static void over(struct lane_task *task)
{
    (void)task;
}

static void poll_lanes(unsigned polls, int expected)
{
    struct lanes all = { .count = 0 };
    struct lane lane = { .polls = polls };
    struct asking asking = { .task = { .run = run, .over = over } };

    hud_lanes_init(&all, false);
    hud_lanes_lock_pool(&all);
    assert_true(hud_lanes_reserve(&all));
    hud_lanes_unlock_pool(&all);
    hud_lanes_lock(&all);
    hud_lanes_start(&all, &lane, &asking.task);
    hud_lanes_unlock(&all);

    yields = 0;
    assert_int_equal(hud_lanes_poll(&all), 1);
    assert_int_equal(yields, expected);
    assert_int_equal(hud_lanes_advance(&all), 1); /* a wait of huddle's, which yields itself */
    assert_int_equal(yields, expected);
    mem_count(&all.waits, 1, false);
    assert_int_equal(hud_lanes_poll(&all), 1); /* called by such a wait */
    assert_int_equal(yields, expected);
    mem_count(&all.waits, (uint64_t)-1, false);
    asking.yes = true;
    assert_int_equal(hud_lanes_poll(&all), 0);
    assert_int_equal(hud_lanes_poll(&all), 0);
    assert_int_equal(yields, expected);
    hud_lanes_destroy(&all);
}

static void oversubscribed(void **state)
{
    (void)state;
    poll_lanes(0, 1);
}

static void one_core_per_rank(void **state)
{
    (void)state;
    poll_lanes(100, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(oversubscribed),
                                        cmocka_unit_test(one_core_per_rank) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
