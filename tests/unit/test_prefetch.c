/* SPDX-License-Identifier: BSD-3-Clause */
/* test_prefetch.c - when the line of the next flag is prefetched (mem/prefetch.h). */
#include "mem/mem.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { LOOKED = AHEAD_TRIES + 1 }; /* the first look finds the next flag posted */

static const struct mem_policy policy = { .prefetch_bytes = SIZE_MAX }, without = { .polls = 0 };
static mem_flag posted = { .value = 1 }, missing;
static struct mem_team team;
static struct mem m = { .team = &team };

static void begin(int ranks)
{
    team.ahead = 0;
    m.size = ranks;
    m.policy = &policy;
}

/* Awaits `f` a number of times. Returns how often the next flag was prefetched. */
static int await_times(mem_flag *f, mem_flag *next, int times)
{
    int prefetches = 0;

    for (int i = 0; i < times; i++) {
        mem_prefetch_next(&m, f, 1, next, 1, sizeof *next);
        prefetches += team.ahead > AHEAD_TRIES;
    }
    return prefetches;
}

/* Posts several flags ahead, so that each next flag is found posted. */
static void poster_ahead_is_detected(void **state)
{
    (void)state;
    begin(2);
    assert_int_equal(await_times(&posted, &posted, AHEAD_TRIES), 0);
    assert_int_equal(await_times(&posted, &posted, 10 * AHEAD_TRUST), 10 * AHEAD_TRUST);
    await_times(&missing, &posted, 1);
    assert_int_equal(team.ahead, 0);
}

static void no_prefetch_if_the_limit_is_zero(void **state)
{
    (void)state;
    begin(2);
    await_times(&posted, &posted, LOOKED);
    m.policy = &without;
    await_times(&posted, &missing, AHEAD_TRUST);
    await_times(&missing, &missing, 1);
    assert_int_equal(team.ahead, LOOKED);
}

/* Simulates a rank that is late itself and finds all flags posted. The poster is not ahead, and is
 * not checked again soon. */
static void no_prefetch_if_the_poster_is_not_ahead(void **state)
{
    (void)state;
    begin(3);
    assert_int_equal(await_times(&posted, &missing, LOOKED), 0);
    assert_int_equal(team.ahead, -AHEAD_PAUSE * 3);
    await_times(&missing, &posted, 1);
    assert_int_equal(team.ahead, -AHEAD_PAUSE * 3);
    assert_int_equal(await_times(&posted, &posted, AHEAD_PAUSE * 3 + LOOKED), 1);
    assert_in_range(await_times(&posted, &missing, 10000), 0, AHEAD_TRUST + 1);
}

/* Simulates two posters, only one of which is ahead. */
static void each_poster_is_checked(void **state)
{
    int prefetches = 0;

    (void)state;
    begin(3);
    for (int i = 0; i < 1000; i++) {
        await_times(&posted, &posted, 1);
        prefetches += await_times(&posted, &missing, 1);
    }
    assert_in_range(prefetches, 0, 500);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(poster_ahead_is_detected),
                                        cmocka_unit_test(no_prefetch_if_the_limit_is_zero),
                                        cmocka_unit_test(no_prefetch_if_the_poster_is_not_ahead),
                                        cmocka_unit_test(each_poster_is_checked) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
