/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shape/groups.c - builds groups of ranks.  Ranks in the same unit form a group, its lowest rank
 * leads it, and the leaders form the groups of the next level.
 *
 * Source     paper 03 (Kurnosov, Hierarchical MPI barrier for shared-memory multiprocessors),
 *            "Building the groups", step 3.
 * Ragged     a rank that spans several units at a level is a group of its own there.  So it takes
 *            part again one level up, and at the latest at the top, which has all remaining ranks.
 *            If no rank is bound, there is only the top, a single flat group.
 * Guarantees the groups of a level partition its participants; members ascend; groups are numbered
 * in the order of their leaders.
 * Cost       O(levels * (ranks + units)) time, at most 3 * ranks + 1 integers per level.
 *
 * While the levels are built, a rank takes part at level L exactly if top[rank] == L: each level
 * that is kept raises its leaders by one.
 */
#include "shape/shape.h"

#include <stdlib.h>
#include <string.h>

/* Returns one more than the largest number of a unit at any level. */
static int count_units(const struct shape_place *place)
{
    int units = 1;

    for (int i = 0; i < place->levels * place->ranks; i++)
        if (place->unit[i] >= units)
            units = place->unit[i] + 1;
    return units;
}

/* Takes the next table of a level from the block. */
static int *carve(int **block, int count)
{
    int *table = *block;

    *block += count;
    return table;
}

/* Assigns numbers to the groups of a level and returns how many there are.  group_at[unit] is
 * scratch memory.  If `unit` is NULL, all ranks are in the same unit. */
static int number_groups(const struct shape_groups *g, const int *unit, int units, int *group_at,
                         int *group_of)
{
    int groups = 0;

    for (int u = 0; u < units; u++)
        group_at[u] = -1;
    for (int r = 0; r < g->ranks; r++) {
        int u = unit ? unit[r] : 0;

        if (g->top[r] != g->levels)
            group_of[r] = -1;
        else if (u < 0)
            group_of[r] = groups++;
        else if (group_at[u] >= 0)
            group_of[r] = group_at[u];
        else
            group_of[r] = group_at[u] = groups++;
    }
    return groups;
}

/* Sorts the participants by group, by counting.  Ranks ascend within a group. */
static void list_members(struct shape_level *l, int ranks)
{
    memset(l->first, 0, ((size_t)l->groups + 1) * sizeof(int));
    for (int r = 0; r < ranks; r++)
        if (l->group_of[r] >= 0)
            l->first[l->group_of[r] + 1]++;
    for (int i = 0; i < l->groups; i++)
        l->first[i + 1] += l->first[i];
    for (int r = 0; r < ranks;
         r++) /* first[i] moves to the end of group i, where group i + 1 begins ... */
        if (l->group_of[r] >= 0)
            l->members[l->first[l->group_of[r]]++] = r;
    memmove(l->first + 1, l->first,
            (size_t)l->groups * sizeof(int)); /* ... so all of them move up by one place */
    l->first[0] = 0;
}

/* Adds a level above the existing levels, unless no two ranks would be in a group.  With `from` -1,
 * adds the top, without this condition. */
static void add_level(struct shape_groups *g, const struct shape_place *place, int from, int units,
                      int *group_at, int **block)
{
    const int *unit = from >= 0 ? place->unit + from * place->ranks : NULL;
    struct shape_level *l = &g->level[g->levels];
    int participants = g->levels ? g->level[g->levels - 1].groups : g->ranks, *at = *block;

    l->group_of = carve(&at, g->ranks);
    l->groups = number_groups(g, unit, units, group_at, l->group_of);
    if (unit && l->groups == participants) {
        memset(l, 0, sizeof *l);
        return;
    }
    l->first = carve(&at, participants + 1);
    l->members = carve(&at, participants);
    *block = at;
    list_members(l, g->ranks);
    l->from = from;
    g->levels++;
    for (int i = 0; i < l->groups; i++)
        g->top[l->members[l->first[i]]] = g->levels;
}

static bool has_top(const struct shape_groups *g)
{
    return g->levels > 0 && g->level[g->levels - 1].groups == 1;
}

size_t hud_shape_groups_ints(int ranks, int units)
{
    return (size_t)ranks + SHAPE_LEVELS * (3 * (size_t)ranks + 1) + (size_t)units;
}

void hud_shape_groups_build_in(const struct shape_place *place, int *block,
                               struct shape_groups *groups)
{
    int units = count_units(place), *group_at;

    memset(groups, 0, sizeof *groups);
    groups->ranks = place->ranks;
    groups->top = carve(&block, place->ranks);
    memset(groups->top, 0, (size_t)place->ranks * sizeof *groups->top);
    group_at = carve(&block, units);
    for (int i = 0; i < place->levels && groups->levels < SHAPE_LEVELS - 1 && !has_top(groups); i++)
        add_level(groups, place, i, units, group_at, &block);
    if (!has_top(groups))
        add_level(groups, place, -1, units, group_at, &block);
    groups->top[0] = groups->levels - 1; /* the leader of the top takes part at no further level */
}

int hud_shape_groups_build(const struct shape_place *place, struct shape_groups *groups)
{
    int *block = malloc(hud_shape_groups_ints(place->ranks, count_units(place)) * sizeof *block);

    memset(groups, 0, sizeof *groups);
    if (!block)
        return -1;
    hud_shape_groups_build_in(place, block, groups);
    return 0;
}

void hud_shape_groups_free(struct shape_groups *groups)
{
    free(groups->top); /* the beginning of the block */
    memset(groups, 0, sizeof *groups);
}
