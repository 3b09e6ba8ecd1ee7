/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * last_level.h - the last level of groups that ranks go up.  There the leaders exchange ("meet"),
 * each announcing to all the others, or they gather further up at rank 0.  Also which rank then
 * releases which.  Pure functions.
 */
#ifndef HUD_LAST_LEVEL_H
#define HUD_LAST_LEVEL_H

#include "shape/shape.h"

struct last_level {
    int level, count;
    const int *members; /* where they meet: all ranks at that level, whatever their groups there */
    bool meets;
};

/* The ranks of the lowest level at which at most so many, and two or more, take part meet there; no
 * such level: the top group gathers. */
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

/* The rank that releases another: the member above it where they meet, else rank 0. */
static inline int last_level_releaser(const struct shape_groups *g, const struct last_level *top,
                                      int rank)
{
    return top->meets ? shape_leader(g, top->level - 1, rank) : 0;
}

/* The i-th of the ranks that a rank releases where each is released by its group's leader: the
 * members of the groups that it leads, those of the highest level first.  -1: no more. */
static inline int last_level_released(const struct shape_groups *g, const struct last_level *top,
                                      int rank, int i)
{
    int highest = top->meets ? top->level - 1 : top->level;

    for (int level = highest < g->top[rank] ? highest : g->top[rank]; level >= 0; level--) {
        int count;
        const int *members = shape_members(g, level, rank, &count);
        if (members[0] != rank)
            continue; /* the level at which it is released itself */
        if (i < count - 1)
            return members[i + 1];
        i -= count - 1;
    }
    return -1;
}

#endif
