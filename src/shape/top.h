/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * top.h - where the ranks that lead all others meet, each telling all the others, instead of
 * gathering further up, at rank 0 in the end; and who then lets a rank go: pure functions.
 */
#ifndef HUD_TOP_H
#define HUD_TOP_H

#include "shape/shape.h"

struct top {
    int level, count;
    const int *members; /* of a top that meets: all that take part at its level, whatever their
                           groups there */
    bool meets;
};

/* The ranks of the lowest level at which at most so many, and two or more, take part meet there; no
 * such level: the top group gathers. */
static inline struct top top_of(const struct shape_groups *g, long max)
{
    struct top top = { .level = 0 };

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

/* Who lets a rank go, once the top knows: the member above it of a top that meets, else rank 0. */
static inline int top_head(const struct shape_groups *g, const struct top *top, int rank)
{
    return top->meets ? shape_leader(g, top->level - 1, rank) : 0;
}

#endif
