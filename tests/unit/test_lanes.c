/* SPDX-License-Identifier: BSD-3-Clause */
/* test_lanes.c - a poll that finds nothing yields where ranks outnumber processors, and only there.
 */
#define _GNU_SOURCE
#include "gang.h"
#include "request/lanes.h"

#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

static _Thread_local int yields;

/* In place of the C library's. */
int sched_yield(void)
{
    yields++;
    return (int)syscall(SYS_sched_yield);
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

static void start_and_test(struct gang_member *m)
{
    hud_team *team = m->team[0].team;
    struct hud_args args = { .collective = hud_collective("barrier") };
    hud_request *r = NULL;
    int done = 0;

    MUST(m, hud_barrier(team) == HUD_OK);
    MUST(m, hud_request_create(team, &args, &(struct hud_passed){ NULL, NULL }, &r) == HUD_OK);
    for (int call = 0; call < 3; call++) {
        yields = 0;
        if (m->rank == 0) { /* the others have not come */
            MUST(m, hud_request_start(r) == HUD_OK);
            MUST(m, hud_request_test(r, &done) == HUD_OK && !done && yields == 0);
            MUST(m, hud_request_test(r, &done) == HUD_OK && !done && yields == 1);
        }
        gang_meet(m);
        if (m->rank != 0)
            MUST(m, hud_request_start(r) == HUD_OK);
        MUST(m, hud_request_wait(r) == HUD_OK);
        gang_meet(m);
    }
    hud_request_free(r);
}

/* The first test after a start belongs to the start, which does not yield. */
static void the_second_test(void **state)
{
    static const char *const settings[] = { "HUDDLE_WAIT=yield", NULL };

    (void)state;
    gang_run(&(struct gang){ .ranks = 2,
                             .teams = 1,
                             .threads = true,
                             .settings = { settings, settings },
                             .body = start_and_test });
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(oversubscribed),
                                        cmocka_unit_test(one_core_per_rank),
                                        cmocka_unit_test(the_second_test) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
