/* SPDX-License-Identifier: BSD-3-Clause */
/* test_delays.c - which delays the uses of a resource see of each other, and for how long. */
#include "lab/sim/delays.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* needs the headers above */
#include <cmocka.h>

enum { MANY = 1000 };

/* Verifies that each use sees the delays noted by itself and all uses before, however many
 * follow. */
static void delays_of_earlier_uses_are_seen(void **state)
{
    struct sim_delays delays = { 0 };

    (void)state;
    assert_true(hud_delays_so_far(&delays) == 0);
    for (unsigned i = 1; i <= MANY; i++)
        assert_int_equal(hud_delays_next(&delays), i);
    hud_delays_note(&delays, 500, 3);
    hud_delays_note(&delays, 2, 40); /* noted after a later use */
    for (unsigned i = 1; i <= MANY; i++)
        assert_true(hud_delays_seen(&delays, i) == (i < 2 ? 0 : i < 500 ? 40 : 43));
    assert_true(hud_delays_so_far(&delays) == 43);
    hud_delays_free(&delays);
}

/* Verifies that closed uses are dropped from the oldest on, and their delays still count for the
 * others. */
static void closed_uses_are_dropped_oldest_first(void **state)
{
    struct sim_delays delays = { 0 };

    (void)state;
    for (int i = 1; i <= 4; i++) {
        unsigned number = hud_delays_next(&delays);
        hud_delays_note(&delays, number, i);
    }
    assert_int_equal(hud_delays_open(&delays), 4); /* a second use with this number */
    hud_delays_close(&delays, 2);
    assert_int_equal(delays.first, 1);
    assert_true(hud_delays_seen(&delays, 1) == 1 && hud_delays_seen(&delays, 3) == 6);
    hud_delays_close(&delays, 1);
    assert_int_equal(delays.first, 3);
    assert_true(hud_delays_seen(&delays, 3) == 6 && hud_delays_so_far(&delays) == 10);
    hud_delays_close(&delays, 3);
    hud_delays_close(&delays, 4);
    assert_true(hud_delays_so_far(&delays) == 10);
    hud_delays_close(&delays, 4);
    assert_true(hud_delays_so_far(&delays) == 10); /* delays of a use yet to begin */
    assert_int_equal(hud_delays_open(&delays), 4);
    assert_true(hud_delays_seen(&delays, 4) == 10);
    hud_delays_free(&delays);
}

/* Verifies that few uses are stored if few are open at a time. */
static void only_open_uses_are_kept(void **state)
{
    struct sim_delays delays = { 0 };

    (void)state;
    hud_delays_next(&delays);
    for (unsigned i = 1; i < MANY; i++) {
        hud_delays_next(&delays);
        hud_delays_note(&delays, i, 1);
        hud_delays_close(&delays, i);
    }
    assert_true(delays.room <= 4 && hud_delays_so_far(&delays) == MANY - 1);
    hud_delays_free(&delays);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(delays_of_earlier_uses_are_seen),
                                        cmocka_unit_test(closed_uses_are_dropped_oldest_first),
                                        cmocka_unit_test(only_open_uses_are_kept) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
