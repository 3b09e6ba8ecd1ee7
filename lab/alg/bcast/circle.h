/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * circle.h - the order in which the ranks of groups read segments in rotation (bcast/segments):
 * pure functions.
 *
 * All ranks except the root are in a circle: group G - 1 first, then G - 2, ..., 0, ascending
 * within each group.  The groups are the members of the top group, each with all ranks below it.
 * With a single level there is one group.  Every segment is read in this order, from the first rank
 * of the segment's own group on.  So the rank that is a given number of places before another is
 * the same for all segments.
 */
#ifndef HUD_LAB_ALG_CIRCLE_H
#define HUD_LAB_ALG_CIRCLE_H

#include "shape/shape.h"

struct circle {
    const struct shape_groups *groups;
    const int *heads; /* leaders of the groups */
    int count, root;  /* number of groups; the rank that is not in the circle */
};

/* A place in the circle: a rank, and how many groups its group is behind the group where stepping
 * back began. */
struct circle_place {
    int group, behind, rank;
};

static inline struct circle circle_of(const struct shape_groups *groups, int root)
{
    struct circle o = { .groups = groups, .root = root };

    o.heads = shape_members(groups, groups->levels - 1, 0, &o.count);
    o.count = groups->levels > 1 ? o.count : 1;
    return o;
}

static inline bool circle_has(const struct circle *o, int rank, int group)
{
    return o->count == 1 || o->heads[group] == shape_leader(o->groups, o->groups->levels - 2, rank);
}

static inline int circle_group(const struct circle *o, int rank)
{
    int group = 0;

    while (!circle_has(o, rank, group))
        group++;
    return group;
}

/* Returns how many ranks may read a segment at a time: `wanted`, or, if it is 0, the average number
 * of ranks of a group, but at most all ranks except the root. */
static inline int circle_limit(const struct circle *o, long wanted)
{
    int ranks = o->groups->ranks,
        limit = wanted != 0 ? (int)wanted : (ranks + o->count - 1) / o->count;

    return limit < ranks ? limit : ranks - 1;
}

/* Moves one place back. */
static inline void circle_back(const struct circle *o, struct circle_place *at)
{
    do {
        if (at->rank == 0) {
            at->rank = o->groups->ranks;
            at->behind++;
        }
        at->rank--;
    } while (at->rank == o->root || !circle_has(o, at->rank, (at->group + at->behind) % o->count));
}

/* Returns the rank `places` places before another.  If `places` ranks may read a segment at a time,
 * the returned rank reads each segment right before the given rank. */
static inline struct circle_place circle_before(const struct circle *o, int rank, int places)
{
    struct circle_place at = { .group = circle_group(o, rank), .rank = rank };

    while (places-- > 0)
        circle_back(o, &at);
    return at;
}

#endif
