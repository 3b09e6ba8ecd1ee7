/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * meetings.h - the step of an exchange in which each pair of ranks meets: pure functions.
 *
 * The groups are the members of the top group, each with all ranks below it; a rank is the i-th of
 * group a.  With n ranks in the largest of G groups, rank i of a and rank j of b meet in step T G +
 * S, where T = i + j mod n and S = a + b - o(i, j) mod G: o numbers the pairs {i, j} of one T, from
 * 0 on.  So
 *
 *   - a rank meets at most one other rank in a step: T gives the other's number; then o is known,
 *     and S gives its group;
 *   - in a step, at most ceil(n / G) + 1 ranks of a group meet ranks of any one other group, and
 *     n - floor(n / G) + 2 meet ranks of all other groups.  So the traffic out of a group, on every
 *     link, is spread over the steps, as evenly as possible to within one or two ranks while no
 *     rank is idle.
 *
 * If ranks met in the order r + q mod p instead, consecutive ranks of a group (or every G-th rank)
 * would all meet the ranks of one other group in some step, and the ranks of their own group in
 * another step.  With a single group, the order is r + q mod p.
 */
#ifndef HUD_MEETINGS_H
#define HUD_MEETINGS_H

#include "shape/delegates.h"

#include <stdint.h>

struct meetings {
    const struct shape_groups *groups;
    const int *heads;
    int count, max; /* number of groups; number of ranks of the largest group */
};

/* A rank and its place: it is the index-th rank of its group. */
struct meetings_rank {
    int rank, group, index;
};

/* Advances to the next rank, group by group, beginning with meetings_none.  Returns false if there
 * are no more. */
static inline bool meetings_next(const struct meetings *o, struct meetings_rank *at)
{
    int below = o->groups->levels > 1 ? o->groups->levels - 2 : 0;

    at->rank = at->rank < 0 ? -1 : delegates_next(o->groups, below, -1, at->rank);
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
    struct meetings o = { .groups = groups, .max = 1 };
    struct meetings_rank at = meetings_none;

    o.heads = shape_members(groups, groups->levels - 1, 0, &o.count);
    o.count = groups->levels > 1 ? o.count : 1;
    while (meetings_next(&o, &at))
        o.max = at.index < o.max ? o.max : at.index + 1;
    return o;
}

/* Returns the step, from 0 on, in which two ranks meet. */
static inline long meetings_step(const struct meetings *o, const struct meetings_rank *x,
                                 const struct meetings_rank *y)
{
    int min = x->index < y->index ? x->index : y->index, sum = (x->index + y->index) % o->max;
    int pair = x->index + y->index == sum ? min : min - sum + sum / 2;

    return (long)sum * o->count + (x->group + y->group + pair * (o->count - 1)) % o->count;
}

enum { MEETINGS_RANK = 32 }; /* number of low bits of a meeting that hold the rank */

/* Stores the next meetings of a rank after `after` (0: from the first), at most `max`, ascending
 * and so in the order of steps.  Returns their number, and 0 at the end. */
static inline int meetings_after(const struct meetings *o, const struct meetings_rank *me,
                                 uint64_t after, int max, uint64_t *meeting)
{
    struct meetings_rank other = meetings_none;
    int count = 0;

    while (meetings_next(o, &other)) {
        uint64_t next =
            (uint64_t)(1 + meetings_step(o, me, &other)) << MEETINGS_RANK | (uint64_t)other.rank;
        if (other.rank == me->rank || next <= after || (count == max && next > meeting[count - 1]))
            continue;
        int at = count < max ? count++ : count - 1;
        for (; at > 0 && meeting[at - 1] > next; at--)
            meeting[at] = meeting[at - 1];
        meeting[at] = next;
    }
    return count;
}

static inline int meetings_with(uint64_t meeting)
{
    return (int)(uint32_t)meeting;
}

#endif
