/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * meetings.h - in which step each two ranks of an exchange meet: pure functions.
 *
 * The groups are the members of the top group, each with all ranks below it; a rank is the i-th of group a.  With n ranks in the largest of G groups, rank i of a and
 * rank j of b meet in step T G + S, where T = i + j mod n and S = a + b - o(i, j) mod G: o numbers the pairs {i, j} of one T, from 0 on.  So
 *
 *   - a rank meets one other, or none, in a step: T tells the other's number, and S, since o is known then, its group;
 *   - at most ceil(n / G) + 1 ranks of a group meet those of any one other group in a step, and n - floor(n / G) + 2 those of all others: what leaves a group,
 *     by whichever way, is spread over the steps, and but for one or two as evenly as can be while no rank is idle.
 *
 * Meeting by r + q mod p instead, consecutive ranks of a group (or every G-th) all meet one group's in some step, and their own in another.  One group: that it is.
 */
#ifndef HUD_MEETINGS_H
#define HUD_MEETINGS_H

#include "shape/deputies.h"

struct meetings {
    const struct shape_groups *groups;
    const int *heads;
    int count, most; /* groups; ranks of the largest */
};

/* A rank and its place: the index-th of its group. */
struct meetings_rank {
    int rank, group, index;
};

/* Goes from rank to rank, group by group, from meetings_none on.  False: there are no more. */
static inline bool meetings_next(const struct meetings *o, struct meetings_rank *at)
{
    int below = o->groups->levels > 1 ? o->groups->levels - 2 : 0;

    at->rank = at->rank < 0 ? -1 : deputies_next(o->groups, below, -1, at->rank);
    at->index++;
    if (at->rank < 0 && ++at->group < o->count) {
        at->rank = o->heads[at->group];
        at->index = 0;
    }
    return at->rank >= 0;
}

static const struct meetings_rank meetings_none = { -1, -1, -1 };

static inline struct meetings meetings_of(const struct shape_groups *groups)
{
    struct meetings o = { .groups = groups, .most = 1 };
    struct meetings_rank at = meetings_none;

    o.heads = shape_members(groups, groups->levels - 1, 0, &o.count);
    o.count = groups->levels > 1 ? o.count : 1;
    while (meetings_next(&o, &at))
        o.most = at.index < o.most ? o.most : at.index + 1;
    return o;
}

/* The step, from 0 on, in which two ranks meet. */
static inline long meetings_step(const struct meetings *o, const struct meetings_rank *x, const struct meetings_rank *y)
{
    int least = x->index < y->index ? x->index : y->index, sum = (x->index + y->index) % o->most;
    int pair = x->index + y->index == sum ? least : least - sum + sum / 2;

    return (long)sum * o->count + (x->group + y->group + pair * (o->count - 1)) % o->count;
}

#endif
