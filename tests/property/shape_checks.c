/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shape_checks.c - see shape_checks.h. Checks the definition of groups directly, by pairs of ranks.
 * Shares no code or data structure with src/shape.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "shape_checks.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

int random_between(int min, int max)
{
    static uint64_t state;

    if (!state) {
        const char *seed = getenv("HUDDLE_TEST_SEED");

        state = seed ? strtoull(seed, NULL, 0) : (uint64_t)time(NULL);
        printf("HUDDLE_TEST_SEED=%llu\n", (unsigned long long)state);
        state = state * 2 + 1; /* never 0 */
    }
    state ^= state << 13; /* xorshift64 */
    state ^= state >> 7;
    state ^= state << 17;
    return min + (int)((state >> 20) % (uint64_t)(max - min + 1));
}

void random_place(int ranks, int max_levels, int loose, struct shape_place *place)
{
    int levels = random_between(0, max_levels), units = random_between(1, 2 * ranks);
    int *unit = malloc((size_t)(levels * ranks + 1) * sizeof *unit);

    assert_non_null(unit);
    *place = (struct shape_place){ .ranks = ranks, .levels = levels, .unit = unit };
    for (int r = 0; r < ranks; r++) {
        int at = random_between(0, units - 1);
        int spans = loose && random_between(1, loose) == 1 ? random_between(1, levels + 1)
                                                           : 0; /* number of lowest levels at which
                                                                 * the rank spans units */

        for (int l = 0; l < levels; l++)
            unit[l * ranks + r] = at;
        for (int l = 0; l < levels && l < spans; l++)
            unit[l * ranks + r] = -1;
    }
    for (int l = 1, inside = 1; l < levels;
         l++) { /* each level joins neighboring units of the level below */
        inside *= random_between(1, 5);
        for (int r = 0; r < ranks; r++)
            if (unit[l * ranks + r] >= 0)
                unit[l * ranks + r] /= inside;
    }
}

/* Asserts that the tables of a level agree with each other. */
static void check_tables(const struct shape_groups *g, int level)
{
    const struct shape_level *l = &g->level[level];
    int listed = 0;

    assert_int_equal(l->first[0], 0);
    for (int i = 0; i < l->groups; i++) {
        assert_true(l->first[i] < l->first[i + 1]);
        for (int m = l->first[i]; m < l->first[i + 1]; m++) {
            assert_true(m == l->first[i] || l->members[m - 1] < l->members[m]);
            assert_int_equal(l->group_of[l->members[m]], i);
        }
    }
    for (int r = 0; r < g->ranks; r++) {
        listed += l->group_of[r] >= 0;
        assert_int_equal(l->group_of[r] >= 0, level <= g->top[r]);
    }
    assert_int_equal(listed, l->first[l->groups]);
}

static bool meet(const int *unit, int a, int b)
{
    return a == b || !unit || (unit[a] >= 0 && unit[a] == unit[b]);
}

static bool any_meet(const int *unit, const bool *leads, int ranks)
{
    for (int a = 0; a < ranks; a++)
        for (int b = 0; b < a; b++)
            if (leads[a] && leads[b] && meet(unit, a, b))
                return true;
    return false;
}

/* Checks a level. The participants are the leaders so far, and two of them share a group exactly if
 * they are in the same unit. Afterwards only the lowest rank of each group is a leader. */
static void check_level(const struct shape_groups *g, int level, int from, const int *unit,
                        bool *leads)
{
    const int *of = g->level[level].group_of;

    assert_true(level < g->levels);
    assert_int_equal(g->level[level].from, from);
    check_tables(g, level);
    for (int a = 0; a < g->ranks; a++) {
        assert_int_equal(of[a] >= 0, leads[a]);
        for (int b = 0; b < a; b++)
            if (leads[a] && leads[b])
                assert_int_equal(of[a] == of[b], meet(unit, a, b));
    }
    for (int a = g->ranks - 1; a >= 0; a--)
        for (int b = 0; b < a && leads[a]; b++)
            if (leads[b] && meet(unit, a, b))
                leads[a] = false;
}

void check_groups(const struct shape_place *place, const struct shape_groups *g)
{
    int level = 0, count;
    bool *leads = malloc((size_t)place->ranks * sizeof *leads);

    assert_non_null(leads);
    assert_int_equal(g->ranks, place->ranks);
    for (int r = 0; r < g->ranks; r++)
        leads[r] = true;
    for (int l = 0; l < place->levels && l < SHAPE_LEVELS; l++)
        if (any_meet(place->unit + l * place->ranks, leads, g->ranks))
            check_level(g, level++, l, place->unit + l * place->ranks, leads);
    if (any_meet(NULL, leads, g->ranks) || g->ranks == 1)
        check_level(g, level++, -1, NULL, leads);
    assert_int_equal(level, g->levels);
    assert_true(level <= SHAPE_LEVELS);
    assert_int_equal(g->level[level - 1].groups, 1);
    assert_int_equal(g->level[level - 1].members[0], 0);
    for (int r = 0; r < g->ranks; r++) { /* following the leaders from any rank ends at rank 0 */
        int leader = r;
        for (int l = 0; l < g->levels; l++)
            leader = shape_members(g, l, leader, &count)[0];
        assert_int_equal(leader, 0);
        assert_true(g->top[r] >= 0 && g->top[r] < g->levels);
    }
    free(leads);
}
