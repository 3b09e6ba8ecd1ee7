/* SPDX-License-Identifier: BSD-3-Clause */
/* test_units.c - compares the times of an allreduce over several units with cases solved by
 * hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "cost/units.h"

#include <math.h>

enum { KB = 1024, MB = 1 << 20 };

/* cmocka compares floats only. */
#define assert_near(is, wanted, within) near_at(is, wanted, within, __LINE__)

static void near_at(double is, double wanted, double within, int line)
{
    if (!(fabs(is - wanted) <= within))
        fail_msg("line %d: %.10g is not within %g of %.10g", line, is, within, wanted);
}

/* 2 units of 8; in fragments of 1e5. */
static const struct cost_units units = { .ranks = 16,
                                         .units = 2,
                                         .line_ns = 100,
                                         .byte_ns = 0.1,
                                         .far_ns = 0.3,
                                         .reduce_ns = 0.05,
                                         .link_gbps = 100,
                                         .fragment_bytes = 1e5 };

static void allreduce_times_match_computation(void **state)
{
    struct cost_units narrow = units;

    (void)state;
    assert_near(hud_cost_allreduce_slices_ns(&units, 1e6),
                20 * 100 +
                    1e6 * (15 / 16. * 0.1 + (0.05 + 0.3) / 2 + (1 / 2. - 1 / 16.) * 0.1 + 0.3 / 2),
                1e-6);
    assert_near(hud_cost_allreduce_levels_ns(&units, 1e6),
                40 * 100 + 1e6 * (14 / 8. * 0.1 + 0.05 + (1 / 16. + 1 / 8. - 1 / 16.) * 0.3), 1e-6);
    narrow.link_gbps = 10; /* each contribution to a slice of the other unit crosses the link, and
                            * so does each result: 8 of 16 ranks' in 8 slices of n/16 */
    assert_near(hud_cost_allreduce_slices_ns(&narrow, 1e6), 20 * 100 + 2 * 8 * 8 * (1e6 / 16) / 10,
                1e-6);
    narrow.link_gbps = 1; /* a partial result and a result cross the link */
    assert_near(hud_cost_allreduce_levels_ns(&narrow, 1e6), 40 * 100 + 1e6, 1e-6);
    assert_near(hud_cost_allreduce_levels_ns(&units, 0), 4 * 100, 1e-6);
}

static void large_allreduce_is_faster_by_levels(void **state)
{
    const struct cost_units typical = hud_cost_units_typical(32, 128 * KB);

    (void)state;
    assert_true(hud_cost_allreduce_slices_ns(&typical, 64) <
                hud_cost_allreduce_levels_ns(&typical, 64));
    assert_true(hud_cost_allreduce_slices_ns(&typical, MB) >
                hud_cost_allreduce_levels_ns(&typical, MB));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(allreduce_times_match_computation),
        cmocka_unit_test(large_allreduce_is_faster_by_levels),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
