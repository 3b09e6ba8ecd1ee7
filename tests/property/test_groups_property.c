/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_groups_property.c - groups match the paper's definition, for all small placements and for
 * random placements of up to 300 ranks.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "shape_checks.h"

#include <stdlib.h>

static void check_place(const struct shape_place *place)
{
    struct shape_groups g;

    assert_int_equal(hud_shape_groups_build(place, &g), 0);
    check_groups(place, &g);
    hud_shape_groups_free(&g);
    assert_null(g.top);
}

/* Covers all assignments of units -1..ranks-1 to up to 5 ranks at one level. */
static void groups_match_the_paper_for_all_small_placements(void **state)
{
    (void)state;
    for (int ranks = 1; ranks <= 5; ranks++) {
        int unit[5], more = 1;

        for (int r = 0; r < ranks; r++)
            unit[r] = -1;
        while (more) {
            struct shape_place place = { .ranks = ranks, .levels = 1, .unit = unit };

            check_place(&place);
            more = 0;
            for (int r = 0; r < ranks && !more; r++) { /* count up in base ranks + 1 */
                more = unit[r] < ranks - 1;
                unit[r] = more ? unit[r] + 1 : -1;
            }
        }
    }
}

static void groups_match_the_paper_for_random_placements(void **state)
{
    (void)state;
    for (int i = 0; i < 4000; i++) {
        struct shape_place place;

        random_place(i % 100 ? random_between(1, 40) : random_between(1, 300), SHAPE_LEVELS - 1,
                     i % 4, &place);
        check_place(&place);
        free((void *)(uintptr_t)place.unit);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups_match_the_paper_for_all_small_placements),
        cmocka_unit_test(groups_match_the_paper_for_random_placements),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
