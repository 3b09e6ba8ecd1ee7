/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shape/groups.c - ranks in the same unit form a group, its lowest rank leads, the leaders form the groups of the next level.
 *
 * Source     paper 03 (Kurnosov, Hierarchical MPI barrier for shared-memory multiprocessors), "Building the groups", step 3.
 * Ragged     a rank that spans units at a level is a group of its own there, so it takes part again one level up, and is at the
 *            latest held by the top, which holds everybody left.  Nobody bound: nothing but the top, one flat group.
 * Guarantees a level's groups partition its participants; members ascend; groups are numbered in the order of their leaders.
 * Cost       O(levels * (ranks + units)) time, at most 3 * ranks + 1 integers a level.
 *
 * While building, a rank takes part at level L exactly if top[rank] == L: each level kept sends its leaders one further.
 */
#include "shape/shape.h"

#include <stdlib.h>
#include <string.h>

/* One more than the largest unit of any level. */
static int count_units(const struct shape_place *place)
{
    int units = 1;

    for (int i = 0; i < place->levels * place->ranks; i++)
        if (place->unit[i] >= units)
            units = place->unit[i] + 1;
    return units;
}

/* One block holds the three tables of a level. */
static int allocate(struct shape_level *l, int ranks, int participants)
{
    l->group_of = malloc(((size_t)ranks + 2 * (size_t)participants + 1) * sizeof(int));
    if (!l->group_of)
        return -1;
    l->first = l->group_of + ranks;
    l->members = l->first + participants + 1;
    return 0;
}

/* Numbers the groups of a level; group_at[unit] is scratch.  unit NULL: all are in one unit. */
static int number_groups(const struct shape_groups *g, const int *unit, int units, int *group_at, int *group_of)
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

/* Sorts the participants by group, by counting; ranks ascend within a group. */
static void list_members(struct shape_level *l, int ranks)
{
    memset(l->first, 0, ((size_t)l->groups + 1) * sizeof(int));
    for (int r = 0; r < ranks; r++)
        if (l->group_of[r] >= 0)
            l->first[l->group_of[r] + 1]++;
    for (int i = 0; i < l->groups; i++)
        l->first[i + 1] += l->first[i];
    for (int r = 0; r < ranks; r++) /* first[i] walks to the end of group i, which is where group i + 1 begins ... */
        if (l->group_of[r] >= 0)
            l->members[l->first[l->group_of[r]]++] = r;
    memmove(l->first + 1, l->first, (size_t)l->groups * sizeof(int)); /* ... so all of them move up by one */
    l->first[0] = 0;
}

/* Adds a level above those there are, unless it would group nobody.  from -1: the top, which is always added. */
static int add_level(struct shape_groups *g, const struct shape_place *place, int from, int units, int *group_at)
{
    const int *unit = from >= 0 ? place->unit + from * place->ranks : NULL;
    struct shape_level *l = &g->level[g->levels];
    int participants = g->levels ? g->level[g->levels - 1].groups : g->ranks;

    if (allocate(l, g->ranks, participants))
        return -1;
    l->groups = number_groups(g, unit, units, group_at, l->group_of);
    if (unit && l->groups == participants) {
        free(l->group_of);
        memset(l, 0, sizeof *l);
        return 0;
    }
    list_members(l, g->ranks);
    l->from = from;
    g->levels++;
    for (int i = 0; i < l->groups; i++)
        g->top[l->members[l->first[i]]] = g->levels;
    return 0;
}

static bool has_top(const struct shape_groups *g)
{
    return g->levels > 0 && g->level[g->levels - 1].groups == 1;
}

int hud_shape_groups_build(const struct shape_place *place, struct shape_groups *groups)
{
    int units = count_units(place), failed;
    int *group_at = malloc((size_t)units * sizeof *group_at);

    memset(groups, 0, sizeof *groups);
    groups->ranks = place->ranks;
    groups->top = calloc((size_t)place->ranks, sizeof *groups->top);
    failed = !group_at || !groups->top;
    for (int i = 0; i < place->levels && groups->levels < SHAPE_LEVELS - 1 && !failed && !has_top(groups); i++)
        failed = add_level(groups, place, i, units, group_at);
    if (!failed && !has_top(groups))
        failed = add_level(groups, place, -1, units, group_at);
    free(group_at);
    if (failed) {
        hud_shape_groups_free(groups);
        return -1;
    }
    groups->top[0] = groups->levels - 1; /* there is no further level for the leader of the top */
    return 0;
}

void hud_shape_groups_free(struct shape_groups *groups)
{
    for (int i = 0; i < groups->levels; i++)
        free(groups->level[i].group_of);
    free(groups->top);
    memset(groups, 0, sizeof *groups);
}
