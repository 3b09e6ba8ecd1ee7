/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gathering.h - which members of a group a member waits for when the group gathers at its leader:
 * pure functions.
 *
 * In a group of at most `flat` members, the leader waits for all others.  A larger group gathers in
 * two steps, by a complete tree of the smallest degree k with 1 + k + k^2 >= members.  So no rank
 * reads more lines, one after the other, than about the square root of the number of members.
 */
#ifndef HUD_GATHERING_H
#define HUD_GATHERING_H

#include "shape/shape.h"

#define GATHERING_FLAT_DOC                                                                         \
    "maximum members of a group that signal its leader in one step; larger groups take two steps"

struct gathering {
    bool leads;
    int first, end;     /* the rank waits for members[first] .. members[end - 1] */
    const int *members; /* members of the group, the leader first */
};

static inline struct gathering gathering_of(const struct shape_groups *g, int level, int rank,
                                            long flat)
{
    struct gathering o = { .first = 1 };
    int count, at, degree;

    o.members = shape_members(g, level, rank, &count);
    o.leads = o.members[0] == rank;
    o.end = o.leads ? count : 1;
    if (count <= flat)
        return o;
    degree = shape_two_steps(count);
    at = shape_index(o.members, count, rank);
    o.first = degree * at + 1 < count ? degree * at + 1 : count;
    o.end = o.first + degree < count ? o.first + degree : count;
    return o;
}

#endif
