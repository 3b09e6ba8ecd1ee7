/* SPDX-License-Identifier: BSD-3-Clause */
/* top.h - the top group: whether its members meet, each telling all the others, or gather at rank 0; and who then lets a rank go: pure functions. */
#ifndef HUD_TOP_H
#define HUD_TOP_H

#include "shape/shape.h"

struct top {
    int level, count;
    const int *members;
    bool meets;
};

/* A top group of two members or more meets if they are at most so many. */
static inline struct top top_of(const struct shape_groups *g, long most)
{
    struct top top = { .level = g->levels - 1 };

    top.members = shape_members(g, top.level, 0, &top.count);
    top.meets = top.count > 1 && top.count <= most;
    return top;
}

/* Who lets a rank go, once the top knows: the member above it of a top that meets, else rank 0. */
static inline int top_head(const struct shape_groups *g, const struct top *top, int rank)
{
    return top->meets ? shape_leader(g, top->level - 1, rank) : 0;
}

#endif
