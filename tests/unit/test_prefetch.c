/* SPDX-License-Identifier: BSD-3-Clause */
/* test_prefetch.c - when the line of a flag's next one is prefetched (mem/prefetch.h). */
#include "mem/mem.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { LOOKED = AHEAD_TRIES + 1 }; /* the first look has found the next flag */

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

/* Awaits `f`, so many times; how often the next flag was prefetched. */
static int await_times(mem_flag *f, mem_flag *next, int times)
{
    int prefetches = 0;

    for (int i = 0; i < times; i++) {
        mem_prefetch_next(&m, f, 1, next, 1, sizeof *next);
        prefetches += team.ahead > AHEAD_TRIES;
    }
    return prefetches;
}

/* Several flags in a row have been posted before, and the first next one is, too. */
static void a_poster_who_is_ahead_is_noticed(void **state)
{
    (void)state;
    begin(2);
    assert_int_equal(await_times(&posted, &posted, AHEAD_TRIES), 0);
    assert_int_equal(await_times(&posted, &posted, 10 * AHEAD_TRUST), 10 * AHEAD_TRUST);
    await_times(&missing, &posted, 1);
    assert_int_equal(team.ahead, 0);
}

static void a_setting_without_bytes_prevents_it(void **state)
{
    (void)state;
    begin(2);
    await_times(&posted, &posted, LOOKED);
    m.policy = &without;
    await_times(&posted, &missing, AHEAD_TRUST);
    await_times(&missing, &missing, 1);
    assert_int_equal(team.ahead, LOOKED);
}

/* By a rank that is late itself, all flags are found posted: it is not believed, nor soon again. */
static void a_poster_who_is_not_ahead_is_left_alone(void **state)
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

/* Of two posters, one is ahead and the other is not. */
static void each_poster_is_looked_at(void **state)
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
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_poster_who_is_ahead_is_noticed),
                                        cmocka_unit_test(a_setting_without_bytes_prevents_it),
                                        cmocka_unit_test(a_poster_who_is_not_ahead_is_left_alone),
                                        cmocka_unit_test(each_poster_is_looked_at) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
