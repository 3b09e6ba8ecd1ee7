/* SPDX-License-Identifier: BSD-3-Clause */
/* test_late.c - what uses that follow each other see of each other's delays, and for how long. */
#include "sim/late.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* after the above */
#include <cmocka.h>

enum { MANY = 1000 };

/* However many follow: each sees what those before it have noted, and itself. */
static void test_none_before(void **state)
{
    struct sim_late late = { 0 };

    (void)state;
    assert_true(hud_late_so_far(&late) == 0);
    for (unsigned i = 1; i <= MANY; i++)
        assert_int_equal(hud_late_next(&late), i);
    hud_late_note(&late, 500, 3);
    hud_late_note(&late, 2, 40); /* after a later one, and long ago */
    for (unsigned i = 1; i <= MANY; i++)
        assert_true(hud_late_seen(&late, i) == (i < 2 ? 0 : i < 500 ? 40 : 43));
    assert_true(hud_late_so_far(&late) == 43);
    hud_late_free(&late);
}

/* Those that are closed are dropped, from the oldest on: what they noted counts for the others. */
static void test_dropped(void **state)
{
    struct sim_late late = { 0 };

    (void)state;
    for (int i = 1; i <= 4; i++) {
        unsigned number = hud_late_next(&late);
        hud_late_note(&late, number, i);
    }
    assert_int_equal(hud_late_open(&late), 4); /* a second use there */
    hud_late_close(&late, 2);
    assert_int_equal(late.first, 1);
    assert_true(hud_late_seen(&late, 1) == 1 && hud_late_seen(&late, 3) == 6);
    hud_late_close(&late, 1);
    assert_int_equal(late.first, 3);
    assert_true(hud_late_seen(&late, 3) == 6 && hud_late_so_far(&late) == 10);
    hud_late_close(&late, 3);
    hud_late_close(&late, 4);
    assert_true(hud_late_so_far(&late) == 10);
    hud_late_close(&late, 4);
    assert_true(hud_late_so_far(&late) == 10); /* for one to come */
    assert_int_equal(hud_late_open(&late), 4);
    assert_true(hud_late_seen(&late, 4) == 10);
    hud_late_free(&late);
}

/* Where few are open at a time, few are kept. */
static void test_few_are_kept(void **state)
{
    struct sim_late late = { 0 };

    (void)state;
    hud_late_next(&late);
    for (unsigned i = 1; i < MANY; i++) {
        hud_late_next(&late);
        hud_late_note(&late, i, 1);
        hud_late_close(&late, i);
    }
    assert_true(late.room <= 4 && hud_late_so_far(&late) == MANY - 1);
    hud_late_free(&late);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_none_before),
                                        cmocka_unit_test(test_dropped),
                                        cmocka_unit_test(test_few_are_kept) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
