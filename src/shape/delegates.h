/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * delegates.h - the delegate of a unit: the rank that reduces a piece for the unit and fetches its
 * result, if a rank of another unit owns the piece.  Pure functions.
 *
 * The unit of a rank at a level is its group there with all ranks below it; at level -1 it is the
 * rank itself.  The lowest rank of a unit, its leader, names it.  The owner is the delegate of
 * every unit that it is in.  For any other unit, the delegate is found level by level from the
 * owner's number.  So owners spread over the ranks of a unit, and the delegate of a unit is also
 * the delegate of one of the units in it.
 */
#ifndef HUD_DELEGATES_H
#define HUD_DELEGATES_H

#include "shape/shape.h"

/* Returns the average number of ranks of a unit of the level below.  This is the distance of owners
 * with delegates in different groups of the level. */
static inline int delegates_stride(const struct shape_groups *g, int level)
{
    int units = level == 0 ? g->ranks : g->level[level - 1].groups;

    return (g->ranks + units - 1) / units;
}

/* Returns the delegate of the unit of `lead` at a level. */
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

/* Returns the highest level, from `base` on, at which a rank is the delegate of its unit, and base
 * - 1 if there is none. */
static inline int delegates_highest(const struct shape_groups *g, int base, int rank, int owner)
{
    int level = base;

    while (level < g->levels && delegates_of(g, level, shape_leader(g, level, rank), owner) == rank)
        level++;
    return level - 1;
}

/* Returns the leader of the next unit at a level, within a unit at level `above`.  The first unit
 * has the leader of the whole unit.  Returns -1 if there are no more. */
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
