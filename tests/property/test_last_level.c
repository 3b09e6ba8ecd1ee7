/* SPDX-License-Identifier: BSD-3-Clause */
/* test_last_level.c - on random groups, where the last level meets, and which rank releases
 * which. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "shape/last_level.h"
#include "shape_checks.h"

#include <stdlib.h>

/* Checks the heads. If the top's level meets, its participants are their own heads, and every other
 * rank has the head of the leader of its last group. Otherwise rank 0 is the only head. */
static void check_heads(const struct shape_groups *g, const struct last_level *top)
{
    for (int r = 0; r < g->ranks; r++) {
        int count, leader = shape_members(g, g->top[r], r, &count)[0];

        if (!top->meets)
            assert_int_equal(last_level_releaser(g, top, r), 0);
        else if (g->top[r] >= top->level)
            assert_int_equal(last_level_releaser(g, top, r), r);
        else
            assert_int_equal(last_level_releaser(g, top, r), last_level_releaser(g, top, leader));
    }
}

/* Checks that each rank is released once, by the leader of its last group, and heads are not
 * released. */
static void check_released(const struct shape_groups *g, const struct last_level *top)
{
    int *by = calloc((size_t)g->ranks, sizeof *by); /* 1 + the rank that releases the rank; 0 if
                                                     * none does */

    assert_non_null(by);
    for (int r = 0; r < g->ranks; r++)
        for (int i = 0, below; (below = last_level_released(g, top, r, i)) >= 0; i++) {
            assert_int_equal(by[below], 0);
            by[below] = 1 + r;
        }
    for (int r = 0; r < g->ranks; r++) {
        int count, leader = shape_members(g, g->top[r], r, &count)[0];
        bool head = top->meets ? g->top[r] >= top->level : r == 0;

        assert_int_equal(by[r], head ? 0 : 1 + leader);
    }
    free(by);
}

static int takers(const struct shape_groups *g, int level)
{
    int count = 0;

    for (int r = 0; r < g->ranks; r++)
        count += g->top[r] >= level;
    return count;
}

/* Checks that the level is the lowest with 2 to `max` participants. If there is no such level, the
 * last level gathers. */
static void check_level(const struct shape_groups *g, const struct last_level *top, int max)
{
    int level = 0;

    while (level < g->levels && (takers(g, level) < 2 || takers(g, level) > max))
        level++;
    assert_int_equal(top->meets, level < g->levels);
    assert_int_equal(top->level, level < g->levels ? level : g->levels - 1);
    assert_int_equal(top->count, takers(g, top->level));
    for (int i = 0; i < top->count; i++)
        assert_true(g->top[top->members[i]] >= top->level);
}

static void last_level_releases_each_rank_once(void **state)
{
    int met = 0, below = 0, gathered = 0;

    (void)state;
    for (int i = 0; i < 1000; i++) {
        struct shape_place place;
        struct shape_groups g;
        int max = random_between(1, 8);

        random_place(random_between(1, 40), SHAPE_LEVELS - 1, i % 4, &place);
        assert_int_equal(hud_shape_groups_build(&place, &g), 0);
        struct last_level top = last_level_of(&g, max);
        check_level(&g, &top, max);
        check_heads(&g, &top);
        check_released(&g, &top);
        met += top.meets && g.levels > 1;
        below += top.meets && top.level < g.levels - 1;
        gathered += !top.meets && g.levels > 1;
        hud_shape_groups_free(&g);
        free((void *)(uintptr_t)place.unit);
    }
    assert_true(met > 0 && below > 0 && gathered > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(last_level_releases_each_rank_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
