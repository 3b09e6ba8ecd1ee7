/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_wait.c - how a rank waits, in a world whose clock moves only when the rank looks, yields,
 * sleeps or progresses: the functions that wait.c asks of the system are replaced by the ones here.
 */
#define _GNU_SOURCE
#include "mem/mem.h"

#include <linux/futex.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { LOOK_NS = 100, US = 1000, MS = 1000000, ARENA = 4096 };

static struct {
    _Alignas(ARENA) struct mem_home home;
    mem_flag flag;
} arena;

static int64_t now, post_at, yield_ns; /* the flag is posted when the clock reaches post_at */
static int yields, sleeps, progresses;
static struct mem_team team;
static struct mem mem;
static struct mem_policy policy;

static void advance(int64_t ns)
{
    now += ns;
    if (now >= post_at)
        atomic_store(&arena.flag.value, 1);
}

int clock_gettime(clockid_t id, struct timespec *t)
{
    (void)id;
    advance(LOOK_NS);
    *t = (struct timespec){ .tv_sec = now / 1000000000, .tv_nsec = now % 1000000000 };
    return 0;
}

int sched_yield(void)
{
    yields++;
    advance(yield_ns);
    return 0;
}

long syscall(long number, ...)
{
    va_list args;

    va_start(args, number);
    (void)va_arg(args, uint32_t *);
    if (number == SYS_futex && va_arg(args, int) == FUTEX_WAIT) {
        (void)va_arg(args, uint32_t);
        const struct timespec *max = va_arg(args, const struct timespec *);
        int64_t bound = max->tv_sec * 1000000000 + max->tv_nsec, left = post_at - now;
        assert_in_range(bound, 1, MS);
        sleeps++;
        advance(left > 0 && left < bound ? left + 30 * US : bound);
    }
    va_end(args);
    return 0;
}

static void progress(void *arg)
{
    (void)arg;
    progresses++;
    advance(LOOK_NS);
}

static int reset(void **state)
{
    (void)state;
    memset(&arena, 0, sizeof arena);
    now = 5 * MS;
    yield_ns = US;
    policy = (struct mem_policy){ .sleep_ns = MS, .progress = progress };
    mem = (struct mem){
        .size = 1, .home_mask = ~(uintptr_t)(ARENA - 1), .policy = &policy, .team = &team
    };
    team = (struct mem_team){ 0 };
    return 0;
}

/* A wait of about so long. */
static void wait_for(int64_t ns)
{
    atomic_store(&arena.flag.value, 0);
    yields = sleeps = progresses = 0;
    post_at = now + ns;
    hud_mem_wait(&mem, &arena.flag.value, 1, "", 0);
}

static void a_way_does_what_it_is_named_after(void **state)
{
    static const struct {
        enum mem_way way;
        bool yields, sleeps;
    } ways[] = { { MEM_POLL, false, false },
                 { MEM_YIELD, true, false },
                 { MEM_SLEEP, false, true },
                 { MEM_ADAPTIVE, true, true } };

    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        reset(state);
        policy.way = ways[i].way;
        wait_for(20 * MS);
        assert_int_equal(yields != 0, ways[i].yields);
        assert_int_equal(sleeps != 0, ways[i].sleeps);
        assert_int_not_equal(progresses, 0);
        assert_int_equal(arena.home.sleepers, 0);
    }
}

/* At least once for each bounded sleep. */
static void progress_is_called_in_every_way(void **state)
{
    for (int way = MEM_POLL; way <= MEM_ADAPTIVE; way++)
        for (unsigned polls = 0; polls <= 256; polls += 256) {
            reset(state);
            policy.way = (enum mem_way)way;
            policy.polls = polls;
            wait_for(200 * MS);
            assert_in_range(progresses, 150, 10000000);
        }
}

/* However long processors were lost, a second later a yield is tried again; a program that stood
 * still as a whole has lost none. */
static void no_loss_is_remembered_for_ever(void **state)
{
    (void)state;
    policy.way = MEM_ADAPTIVE;
    policy.polls = 256;
    yield_ns = 90 * (int64_t)MS;
    for (int i = 0; i < 8; i++) {
        team.habit[0].busy_until_ns = 0;
        wait_for(300 * (int64_t)MS);
    }
    assert_true(team.habit[0].busy_until_ns > 0 &&
                team.habit[0].busy_until_ns <= now + 1000 * (int64_t)MS);
    reset(state);
    policy.way = MEM_ADAPTIVE;
    yield_ns = 600000 * (int64_t)MS;
    wait_for(10 * MS);
    assert_int_equal(team.habit[0].busy_until_ns, 0);
}

/* A rank that has waited long again and again sleeps sooner. */
static void long_waits_teach_to_sleep(void **state)
{
    int before;

    (void)state;
    policy.way = MEM_ADAPTIVE;
    wait_for(20 * MS);
    before = yields;
    for (int i = 0; i < 20; i++)
        wait_for(20 * MS);
    assert_in_range(yields, 1, before / 5);
}

/* A rank whose waits a sleep would lengthen by much stays awake, though it slept at first. */
static void short_waits_teach_to_stay_awake(void **state)
{
    (void)state;
    policy.way = MEM_ADAPTIVE;
    wait_for(600 * US);
    assert_int_not_equal(sleeps, 0);
    for (int i = 0; i < 20; i++)
        wait_for(600 * US);
    assert_int_equal(sleeps, 0);
    for (int i = 0; i < 1000; i++)
        wait_for(2 * US); /* says nothing of longer ones */
    wait_for(600 * US);
    assert_int_equal(sleeps, 0);
}

/* Somebody takes a time slice whenever the processor is offered. */
static void a_processor_that_does_not_come_back_is_not_given_away(void **state)
{
    for (unsigned polls = 0; polls <= 256; polls += 256) {
        int all = 0;

        reset(state);
        policy.way = MEM_ADAPTIVE;
        policy.polls = polls;
        yield_ns = 3 * MS;
        wait_for(100 * US);
        assert_int_equal(yields, 1);
        for (int i = 0; i < 1000; i++) {
            wait_for(100 * US);
            all += yields;
            assert_true(sleeps != 0 || yields != 0);
        }
        assert_in_range(all, 1, 6); /* it looks again now and then, less and less often */
        yield_ns = US;
        for (int i = 0; i < 20; i++)
            wait_for(20 * MS);
        assert_int_not_equal(yields, 0); /* the other has gone */
    }
}

/* In large calls the others work, and keep the processor; in small ones they wait. */
static void large_calls_do_not_teach_small_ones_to_sleep(void **state)
{
    (void)state;
    policy.way = MEM_ADAPTIVE;
    mem.bytes = 1 << 20;
    yield_ns = 3 * MS;
    for (int i = 0; i < 20; i++)
        wait_for(20 * MS);
    assert_int_not_equal(sleeps, 0);
    mem.bytes = 8;
    yield_ns = US;
    wait_for(100 * US);
    assert_int_not_equal(yields, 0);
    assert_int_equal(sleeps, 0);
}

/* The rank that has the processor may be the one that messages of other nodes are for. */
static void waits_for_other_nodes_leave_a_shared_processor(void **state)
{
    for (int far = 0; far <= 1; far++) {
        int awake = 0;

        reset(state);
        policy.way = MEM_ADAPTIVE;
        policy.polls = 256;
        policy.spans_nodes = far;
        yield_ns = 15 * US;
        for (int i = 0; i < 20; i++)
            wait_for(300 * US);
        for (int i = 0; i < 160; i++) {
            wait_for(300 * US);
            awake += yields != 0;
        }
        assert_in_range(awake, far ? 5 : 160, far ? 15 : 160);
        assert_int_equal(hud_mem_cpu_is_shared(&mem), far);
        yield_ns = US / 2;
        for (int i = 0; i < 160; i++)
            wait_for(300 * US);
        assert_int_not_equal(yields, 0); /* they have gone */
        assert_false(hud_mem_cpu_is_shared(&mem));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_way_does_what_it_is_named_after, reset),
        cmocka_unit_test_setup(progress_is_called_in_every_way, reset),
        cmocka_unit_test_setup(no_loss_is_remembered_for_ever, reset),
        cmocka_unit_test_setup(long_waits_teach_to_sleep, reset),
        cmocka_unit_test_setup(short_waits_teach_to_stay_awake, reset),
        cmocka_unit_test_setup(a_processor_that_does_not_come_back_is_not_given_away, reset),
        cmocka_unit_test_setup(large_calls_do_not_teach_small_ones_to_sleep, reset),
        cmocka_unit_test_setup(waits_for_other_nodes_leave_a_shared_processor, reset),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
