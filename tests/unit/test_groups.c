/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_groups.c - groups of placements, computed by hand: the paper's example and irregular
 * placements.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "shape/shape.h"

#include <stdio.h>
#include <string.h>

/* Writes the groups of each level, lowest first, like "0,1 2,3 | 0,2". */
static const char *write_groups(const struct shape_groups *g, char *text, size_t bytes)
{
    size_t at = 0;

    text[0] = '\0';
    for (int level = 0; level < g->levels; level++) {
        const struct shape_level *l = &g->level[level];

        for (int i = 0; i < l->groups; i++)
            for (int m = l->first[i]; m < l->first[i + 1]; m++)
                at += (size_t)snprintf(text + at, bytes - at, "%s%d",
                                       m > l->first[i] ? "," : (i ? " " : (level ? " | " : "")),
                                       l->members[m]);
    }
    return text;
}

static void expect(const int *unit, int ranks, int levels, const char *groups)
{
    struct shape_place place = { .ranks = ranks, .levels = levels, .unit = unit };
    struct shape_groups g;
    char text[4096];

    assert_int_equal(hud_shape_groups_build(&place, &g), 0);
    assert_string_equal(write_groups(&g, text, sizeof text), groups);
    hud_shape_groups_free(&g);
}

/* Uses 2 sockets x 2 NUMA nodes x 32 cores, and 128 processes bound by core. */
static void groups_match_the_example_of_the_paper(void **state)
{
    int unit[2 * 128], count;
    struct shape_place place = { .ranks = 128, .levels = 2, .unit = unit };
    struct shape_groups g;
    const int *members;

    (void)state;
    for (int r = 0; r < 128; r++) {
        unit[r] = r / 32;
        unit[128 + r] = r / 64;
    }
    assert_int_equal(hud_shape_groups_build(&place, &g), 0);
    assert_int_equal(g.levels, 3);
    members = shape_members(&g, 0, 0, &count); /* G1 (0..31) */
    assert_int_equal(count, 32);
    for (int i = 0; i < 32; i++)
        assert_int_equal(members[i], i);
    members = shape_members(&g, 1, 0, &count); /* G2 (0, 32) */
    assert_int_equal(count, 2);
    assert_int_equal(members[1], 32);
    members = shape_members(&g, 2, 0, &count); /* G3 (0, 64) */
    assert_int_equal(count, 2);
    assert_int_equal(members[1], 64);
    assert_int_equal(g.top[0], 2);
    assert_int_equal(g.top[64], 2);
    assert_int_equal(g.top[32], 1);
    assert_int_equal(g.top[1], 0);
    assert_int_equal(g.level[0].group_of[63], 1);
    assert_int_equal(g.level[1].group_of[1], -1);
    hud_shape_groups_free(&g);
}

static void round_robin_ranks_are_grouped_by_unit(void **state)
{
    int unit[2 * 14];

    (void)state;
    for (int r = 0; r < 14; r++) {
        unit[r] = r % 4;
        unit[14 + r] = r % 4 / 2;
    }
    expect(unit, 14, 2, "0,4,8,12 1,5,9,13 2,6,10 3,7,11 | 0,1 2,3 | 0,2");
}

static void single_rank_is_a_group(void **state)
{
    (void)state;
    expect((int[]){ 3, 1 }, 1, 2, "0");
    expect((int[]){ -1 }, 1, 1, "0");
    expect((int[]){ 0 }, 1, 0, "0");
}

static void ranks_without_a_common_unit_are_one_group(void **state)
{
    (void)state;
    expect((int[]){ 0 }, 4, 0, "0,1,2,3");              /* no level known */
    expect((int[]){ -1, -1, -1, -1 }, 4, 1, "0,1,2,3"); /* no rank is bound */
    expect((int[]){ 0, 1, 2, 3 }, 4, 1, "0,1,2,3");     /* no two ranks share a unit: the level is
                                                         * omitted */
    expect((int[]){ 7, 7, 7, 7 }, 4, 1, "0,1,2,3");     /* all ranks share a unit: this level is the
                                                     * top */
    expect((int[]){ 5, 5, 5, 5, 2, 2, 2, 2 }, 4, 2, "0,1,2,3"); /* the next level adds nothing */
    expect((int[]){ 0, 1, 2, 3, 0, 0, 1, 1 }, 4, 2, "0,1 2,3 | 0,2"); /* one rank per unit below */
    expect((int[]){ 0, 0, 1, 1, 0, 0, 1, 1 }, 4, 2, "0,1 2,3 | 0,2"); /* the same units twice */
}

static void ranks_that_span_units_join_higher_groups(void **state)
{
    (void)state;
    expect((int[]){ 0, 0, -1, 1, 1 }, 5, 1, "0,1 2 3,4 | 0,2,3"); /* rank 2 is unbound */
    expect((int[]){ -1, 0, 0, 1, 1 }, 5, 1,
           "0 1,2 3,4 | 0,1,3"); /* rank 0 is unbound, but is a leader nevertheless */
    expect((int[]){ 0, 0, -1, 1, 0, 0, 0, 1 }, 4, 2,
           "0,1 2 3 | 0,2 3 | 0,3"); /* rank 2 is bound to a socket of two nodes */
    expect((int[]){ -1, 0, 0, -1, 1, 1, 0, 0, 0, -1, 1, 1 }, 6, 2,
           "0 1,2 3 4,5 | 0,1 3 4 | 0,3,4"); /* rank 3 overlaps both sockets */
}

/* Uses pairs, pairs of pairs, ...: more levels than fit, so the top level contains all remaining
 * groups. */
static void top_level_holds_the_rest_of_too_many_levels(void **state)
{
    enum { LEVELS = 10, RANKS = 1 << LEVELS };
    static int unit[LEVELS * RANKS];
    struct shape_place place = { .ranks = RANKS, .levels = LEVELS, .unit = unit };
    struct shape_groups g;
    int count;

    (void)state;
    for (int l = 0; l < LEVELS; l++)
        for (int r = 0; r < RANKS; r++)
            unit[l * RANKS + r] = r >> (l + 1);
    assert_int_equal(hud_shape_groups_build(&place, &g), 0);
    assert_int_equal(g.levels, SHAPE_LEVELS);
    for (int l = 0; l < SHAPE_LEVELS - 1; l++)
        assert_int_equal(g.level[l].groups, RANKS >> (l + 1));
    shape_members(&g, SHAPE_LEVELS - 1, 0, &count);
    assert_int_equal(count, RANKS >> (SHAPE_LEVELS - 1));
    hud_shape_groups_free(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups_match_the_example_of_the_paper),
        cmocka_unit_test(round_robin_ranks_are_grouped_by_unit),
        cmocka_unit_test(single_rank_is_a_group),
        cmocka_unit_test(ranks_without_a_common_unit_are_one_group),
        cmocka_unit_test(ranks_that_span_units_join_higher_groups),
        cmocka_unit_test(top_level_holds_the_rest_of_too_many_levels),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
