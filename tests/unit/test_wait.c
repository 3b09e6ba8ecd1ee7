/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_wait.c - how a rank waits, with a simulated clock that advances only when the rank looks,
 * yields, sleeps or makes progress. The system functions called by wait.c are replaced here.
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
static bool runs_if_slept; /* the rank that posts has this processor only while this one sleeps */
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
        if (runs_if_slept && post_at > now + 10 * US) {
            post_at = now + 10 * US;
            left = 10 * US;
        }
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
    runs_if_slept = false;
    policy = (struct mem_policy){ .sleep_ns = MS, .progress = progress };
    mem = (struct mem){
        .size = 1, .home_mask = ~(uintptr_t)(ARENA - 1), .policy = &policy, .team = &team
    };
    team = (struct mem_team){ 0 };
    return 0;
}

/* Waits for about this long. */
static void wait_for(int64_t ns)
{
    atomic_store(&arena.flag.value, 0);
    yields = sleeps = progresses = 0;
    post_at = now + ns;
    hud_mem_wait(&mem, &arena.flag.value, 1, "", 0);
}

static void ways_of_waiting_poll_yield_and_sleep(void **state)
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

/* Expects progress at least once per bounded sleep. */
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

/* Verifies that a yield is tried again a second after any loss of the processor. If the whole
 * program was stopped, there is no loss. */
static void yield_is_tried_again_after_a_second(void **state)
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

/* Makes many long waits, after which the rank must sleep sooner. */
static void rank_sleeps_sooner_after_long_waits(void **state)
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

/* Makes waits that a sleep would lengthen by much. The rank must stay awake, although sleeping at
 * first. */
static void rank_stays_awake_after_short_waits(void **state)
{
    (void)state;
    policy.way = MEM_ADAPTIVE;
    wait_for(600 * US);
    assert_int_not_equal(sleeps, 0);
    for (int i = 0; i < 20; i++)
        wait_for(600 * US);
    assert_int_equal(sleeps, 0);
    for (int i = 0; i < 1000; i++)
        wait_for(2 * US); /* does not affect longer waits */
    wait_for(600 * US);
    assert_int_equal(sleeps, 0);
}

/* Makes another process take a time slice at each yield. */
static void rank_does_not_yield_a_processor_it_loses(void **state)
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
        assert_in_range(all, 1, 6); /* it tries again from time to time, more and more rarely */
        yield_ns = US;
        for (int i = 0; i < 20; i++)
            wait_for(20 * MS);
        assert_int_not_equal(yields, 0); /* the other process has ended */
    }
}

/* Makes a rank that stays awake keep the processor from the poster, as where each rank has a
 * session of its own. Then gives both a processor, where each sleep costs time. */
static void rank_sleeps_soon_where_yields_hand_over_to_nobody(void **state)
{
    int slept = 0;

    (void)state;
    policy.way = MEM_ADAPTIVE;
    runs_if_slept = true;
    for (int i = 0; i < 100; i++)
        wait_for(800 * US);
    int64_t begin = now;
    for (int i = 0; i < 1000; i++)
        wait_for(800 * US);
    assert_in_range(now - begin, 1, 1000 * 100 * US);
    runs_if_slept = false;
    for (int i = 0; i < 4000; i++) {
        wait_for(60 * US);
        slept += i >= 2000 && sleeps != 0;
    }
    assert_in_range(slept, 0, 100);
}

/* Makes large calls in which the other ranks work and keep the processor, and small calls in which
 * they wait. */
static void small_calls_do_not_sleep_after_large_calls(void **state)
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

/* Makes waits for other nodes, in which the rank on the processor may be the receiver of their
 * messages. */
static void waits_for_other_nodes_give_up_a_shared_processor(void **state)
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
        assert_int_not_equal(yields, 0); /* the other ranks are gone */
        assert_false(hud_mem_cpu_is_shared(&mem));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(ways_of_waiting_poll_yield_and_sleep, reset),
        cmocka_unit_test_setup(progress_is_called_in_every_way, reset),
        cmocka_unit_test_setup(yield_is_tried_again_after_a_second, reset),
        cmocka_unit_test_setup(rank_sleeps_sooner_after_long_waits, reset),
        cmocka_unit_test_setup(rank_stays_awake_after_short_waits, reset),
        cmocka_unit_test_setup(rank_does_not_yield_a_processor_it_loses, reset),
        cmocka_unit_test_setup(rank_sleeps_soon_where_yields_hand_over_to_nobody, reset),
        cmocka_unit_test_setup(small_calls_do_not_sleep_after_large_calls, reset),
        cmocka_unit_test_setup(waits_for_other_nodes_give_up_a_shared_processor, reset),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
