/* SPDX-License-Identifier: BSD-3-Clause */
/* relay.h - in a SHAPE_GROUPED tree: which ranks copy a message for the ranks below them, and which
 * rank may read whose copy.  Pure functions. */
#ifndef HUD_RELAY_H
#define HUD_RELAY_H

#include "shape/shape.h"

/* Reports whether a rank fills its own queue.  The root does.  Another rank does if its parent is
 * outside its groups below level `from`, and other members of these groups read from the rank. */
static inline bool relay_copies(const struct shape_tree *t, int rank, int from)
{
    int above = hud_shape_parent(t, rank), level = 0, below = 0, count;

    for (; above >= 0 &&
           t->groups->level[level].group_of[rank] != t->groups->level[level].group_of[above];
         level++) {
        shape_members(t->groups, level, rank, &count);
        below += count - 1;
    }
    return above < 0 || (level >= from && below > 0);
}

/* Reports whether there is a root for which rank `by` reads the slice of rank `of`. */
static inline bool relay_may_read(const struct shape_groups *g, int from, int by, int of)
{
    int lead = by, count; /* the leader above `by` at a level */

    for (int level = 0; level < g->levels; level++) {
        if (level >= from &&
            (lead != by || g->level[level].group_of[by] == g->level[level].group_of[of]))
            return lead == by;
        lead = shape_members(g, level, lead, &count)[0];
        of = shape_members(g, level, of, &count)[0];
        if (level + 1 == from && lead == of)
            return true;
    }
    return false;
}

#endif
