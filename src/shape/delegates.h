/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * delegates.h - the delegate of a unit: the rank that reduces a piece for the unit and fetches its
 * result, where a rank of another unit owns the piece.  Pure functions.
 *
 * The unit of a rank at a level is its group there with all ranks below it, at level -1 the rank
 * itself.  Its lowest rank, the leader, names it.  The owner is the delegate of every unit that it
 * is in.  For any other unit the delegate is found level by level, by the owner's number.  So
 * owners spread over the ranks of a unit, and a unit's delegate is also the delegate of one of the
 * units in it.
 */
#ifndef HUD_DELEGATES_H
#define HUD_DELEGATES_H

#include "shape/shape.h"

/* Ranks of a unit at a level, on average, but for the level itself: the distance of owners that
 * have delegates in different groups of the level. */
static inline int delegates_stride(const struct shape_groups *g, int level)
{
    int units = level == 0 ? g->ranks : g->level[level - 1].groups;

    return (g->ranks + units - 1) / units;
}

/* The delegate of the unit of `lead` at a level. */
static inline int delegates_of(const struct shape_groups *g, int level, int lead, int owner)
{
    int count;

    if (shape_leader(g, level, owner) == lead)
        return owner;
    for (int l = level; l >= 0; l--) {
        const int *members = shape_members(g, l, lead, &count);
        lead = members[owner / delegates_stride(g, l) % count];
    }
    return lead;
}

/* The highest level, from `base` on, whose unit's delegate a rank is; base - 1: none. */
static inline int delegates_highest(const struct shape_groups *g, int base, int rank, int owner)
{
    int level = base;

    while (level < g->levels && delegates_of(g, level, shape_leader(g, level, rank), owner) == rank)
        level++;
    return level - 1;
}

/* The next of the units at a level that lie in one at level `above`, each named by its leader, the
 * first by that of all; -1: there are no more. */
static inline int delegates_next(const struct shape_groups *g, int above, int level, int lead)
{
    for (int l = level + 1; l <= above; l++) {
        int count;
        const int *members = shape_members(g, l, lead, &count);
        int i = shape_index(members, count, lead);
        if (i + 1 < count)
            return members[i + 1];
        lead = members[0];
    }
    return -1;
}

#endif
