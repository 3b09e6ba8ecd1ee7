/* SPDX-License-Identifier: BSD-3-Clause */
/* test_delegates.c - on random groups, the delegate of a unit belongs to the unit and is also the
 * delegate of the lower unit it is in. Delegates serve equally many owners. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "shape/delegates.h"
#include "shape_checks.h"

#include <stdlib.h>

/* Checks that each unit of a level has a single delegate for an owner, which is the owner itself in
 * its own unit. */
static void check_owner(const struct shape_groups *g, int level, int owner)
{
    for (int r = 0; r < g->ranks; r++) {
        int lead = shape_leader(g, level, r), of = delegates_of(g, level, lead, owner);

        assert_int_equal(shape_leader(g, level, of), lead);
        assert_int_equal(delegates_highest(g, 0, r, owner) >= level, of == r);
        if (shape_leader(g, level, owner) == lead)
            assert_int_equal(of, owner);
        if (level > 0)
            assert_int_equal(delegates_of(g, level - 1, shape_leader(g, level - 1, of), owner), of);
    }
}

/* Checks that iterating over a unit visits the leader of each lower unit once, and no other rank.
 * At level -1 every rank counts as a unit. */
static void check_walk(const struct shape_groups *g, int above, int level, int *met)
{
    for (int r = 0; r < g->ranks; r++)
        met[r] = 0;
    for (int lead = 0; lead < g->ranks; lead++)
        for (int r = shape_leader(g, above, lead) == lead ? lead : -1; r >= 0;
             r = delegates_next(g, above, level, r)) {
            assert_int_equal(shape_leader(g, above, r), lead);
            met[r]++;
        }
    for (int r = 0; r < g->ranks; r++)
        assert_int_equal(met[r], shape_leader(g, level, r) == r);
}

static void delegates_are_consistent_in_random_groups(void **state)
{
    (void)state;
    for (int i = 0; i < 600; i++) {
        struct shape_place place;
        struct shape_groups g;

        random_place(i % 50 ? random_between(1, 30) : random_between(1, 100), SHAPE_LEVELS - 1,
                     i % 4, &place);
        assert_int_equal(hud_shape_groups_build(&place, &g), 0);
        int *met = malloc((size_t)g.ranks * sizeof *met);
        assert_non_null(met);
        for (int level = 0; level < g.levels; level++) {
            for (int below = -1; below < level; below++)
                check_walk(&g, level, below, met);
            for (int owner = 0; owner < g.ranks; owner++)
                check_owner(&g, level, owner);
        }
        free(met);
        hud_shape_groups_free(&g);
        free((void *)(uintptr_t)place.unit);
    }
}

/* Checks that in units of equal size all ranks are delegates for equally many owners. */
static void owners_are_spread_evenly_over_delegates(void **state)
{
    enum { RANKS = 48 };
    static const int sizes[] = { 4, 12, 24 };
    int unit[3 * RANKS];

    (void)state;
    for (int level = 0; level < 3; level++)
        for (int r = 0; r < RANKS; r++)
            unit[level * RANKS + r] = r / sizes[level];
    struct shape_place place = { .ranks = RANKS, .levels = 3, .unit = unit };
    struct shape_groups g;
    assert_int_equal(hud_shape_groups_build(&place, &g), 0);
    for (int level = 0; level < 3; level++)
        for (int r = 0; r < RANKS; r++) {
            int owners = 0;
            for (int owner = 0; owner < RANKS; owner++)
                owners += delegates_of(&g, level, shape_leader(&g, level, r), owner) == r;
            assert_int_equal(owners, RANKS / sizes[level]);
        }
    hud_shape_groups_free(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(delegates_are_consistent_in_random_groups),
        cmocka_unit_test(owners_are_spread_evenly_over_delegates),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
