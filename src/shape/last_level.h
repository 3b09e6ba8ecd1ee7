/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * last_level.h - the last level of groups that ranks go up.  There, either the leaders exchange
 * ("meet"), each announcing to all the others, or the ranks gather further up at rank 0.  Also
 * tells which rank then releases which.  Pure functions.
 */
#ifndef HUD_LAST_LEVEL_H
#define HUD_LAST_LEVEL_H

#include "shape/shape.h"

struct last_level {
    int level, count;
    const int *members; /* members of the meeting: all ranks at that level, of any group */
    bool meets;
};

/* Returns the lowest level with at least two and at most `max` participants, who then meet there.
 * If there is no such level, returns the top, whose group gathers. */
static inline struct last_level last_level_of(const struct shape_groups *g, long max)
{
    struct last_level top = { .level = 0 };

    for (; top.level < g->levels; top.level++) {
        const struct shape_level *l = &g->level[top.level];
        top.members = l->members;
        top.count = l->first[l->groups];
        top.meets = top.count > 1 && top.count <= max;
        if (top.meets)
            return top;
    }
    top.level--;
    return top;
}

/* Returns the rank that releases another: the rank's leader in the meeting if there is a meeting,
 * and rank 0 otherwise. */
static inline int last_level_releaser(const struct shape_groups *g, const struct last_level *top,
                                      int rank)
{
    return top->meets ? shape_leader(g, top->level - 1, rank) : 0;
}

/* Returns the i-th rank that a rank releases, if each rank is released by the leader of its group.
 * These are the members of the groups led by the rank, beginning with the highest level.  Returns
 * -1 if there are no more. */
static inline int last_level_released(const struct shape_groups *g, const struct last_level *top,
                                      int rank, int i)
{
    int highest = top->meets ? top->level - 1 : top->level;

    for (int level = highest < g->top[rank] ? highest : g->top[rank]; level >= 0; level--) {
        int count;
        const int *members = shape_members(g, level, rank, &count);
        if (members[0] != rank)
            continue; /* the rank is itself released at this level */
        if (i < count - 1)
            return members[i + 1];
        i -= count - 1;
    }
    return -1;
}

#endif
