/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shape.h - communication patterns.  Pure functions of small integers: no hwloc, no shared memory,
 * no state.
 *
 * Groups: paper 03, "Building the groups".  From the lowest level up, ranks in the same unit form a
 * group.  Its lowest rank leads.  The leaders form the groups of the next level.  The last level is
 * one group.
 *
 * Trees: parent and children of a rank for any root, computed at the call, without tables (papers
 * 01 and 04).
 */
#ifndef HUD_SHAPE_H
#define HUD_SHAPE_H

#include <stdbool.h>
#include <stddef.h>

enum { SHAPE_LEVELS = 8 }; /* most levels of groups: L2, L3, die, NUMA, socket, node, and room */

/*
 * Where the ranks are: unit[level * ranks + rank], the unit of that level that rank is bound
 * within, -1: it spans several.  Level 0 is the lowest; units of a level are numbered 0, 1, ... and
 * lie each within one unit of every level above.
 */
struct shape_place {
    int ranks, levels;
    const int *unit;
};

/* Groups of one level: the participants of a level are the leaders of the level below (level 0: all
 * ranks). */
struct shape_level {
    int *group_of; /* [ranks] index of the rank's group, -1: does not take part at this level */
    int *first;    /* [groups + 1] group g has members[first[g]] .. members[first[g + 1] - 1] */
    int *members;  /* ascending, so that the leader comes first */
    int groups;
    int from; /* level of the shape_place whose units these are, -1: the top that holds everybody
                 left */
};

struct shape_groups {
    int ranks, levels; /* levels >= 1; the top level has one group, led by rank 0 */
    int *top;          /* [ranks] highest level at which the rank takes part */
    struct shape_level level[SHAPE_LEVELS];
};

/*
 * A rank that spans units at a level (unbound, half bound) is grouped at the first level that holds
 * it, at the latest at the top.  Until then it is a group of its own, so group_of is >= 0 at all
 * levels 0 .. top[rank], and only there.  A level at which no group has two members is left out; of
 * the others the lowest SHAPE_LEVELS - 1 are kept, and the top above them. ranks >= 1.  Returns 0,
 * or -1: out of memory (*groups is empty).
 */
int hud_shape_groups_build(const struct shape_place *place, struct shape_groups *groups);
/* The same in memory that the caller has allocated, so that it cannot fail; the groups own it.
 * Integers it needs, for units below `units`: */
size_t hud_shape_groups_ints(int ranks, int units);
void hud_shape_groups_build_in(const struct shape_place *place, int *block,
                               struct shape_groups *groups);
void hud_shape_groups_free(struct shape_groups *groups);

/* The members of rank's group at a level at which it takes part, its leader first; *count of
 * them. */
static inline const int *shape_members(const struct shape_groups *g, int level, int rank,
                                       int *count)
{
    const struct shape_level *l = &g->level[level];
    int of = l->group_of[rank];

    *count = l->first[of + 1] - l->first[of];
    return l->members + l->first[of];
}

/* Where a rank is among members that ascend, of which it is one. */
static inline int shape_index(const int *members, int count, int rank)
{
    int low = 0, high = count - 1;

    while (low < high) {
        int middle = low + (high - low) / 2;
        if (members[middle] < rank)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The leader of a rank's unit at a level, which is its group there with all ranks below it; -1: the
 * rank is its own unit. */
static inline int shape_leader(const struct shape_groups *g, int level, int rank)
{
    int count;

    for (int l = 0; l <= level; l++)
        rank = *shape_members(g, l, rank, &count);
    return rank;
}

/* The least degree of a tree in which all members are within two steps of the first: about a square
 * root of them. */
static inline int shape_two_steps(int members)
{
    int degree = 1;

    while (1 + degree + degree * degree < members)
        degree++;
    return degree;
}

enum shape_kind {
    SHAPE_FLAT,     /* the root has all others as children */
    SHAPE_CHAIN,    /* each rank has one child */
    SHAPE_KARY,     /* complete k-ary, level by level: children of v are k*v + 1 .. k*v + k */
    SHAPE_BALANCED, /* k-ary, each subtree a run of consecutive ranks, their sizes differing by at
                       most one */
    SHAPE_KNOMIAL,  /* k-nomial: binomial for k = 2 */
    SHAPE_GROUPED, /* by the groups: in each group the member that is, or leads the way to, the root
                      (else the leader) tells the others */
    SHAPE_NESTED,  /* the same, but each group is a balanced k-ary tree below that member */
    /* Two levels: each lowest group below its leader (or the root, if inside), balanced k-ary, a
     * wide one in two steps; those heads balanced k-ary. */
    SHAPE_LEADERS,
    SHAPE_KINDS
};

/* Of a parameter that is the degree, for users. */
#define SHAPE_DEGREE_DOC                                                                           \
    "children of a rank in the trees kary, balanced and knomial, in a group of nested, of a "      \
    "leader among leaders"

/* Trees of such a kind cannot be without groups. */
static inline bool shape_by_groups(enum shape_kind kind)
{
    return kind >= SHAPE_GROUPED;
}

extern const char *const hud_shape_names[SHAPE_KINDS + 1]; /* "flat", "chain", ...; ended by NULL */

struct shape_tree {
    enum shape_kind kind;
    int degree; /* k of k-ary, balanced, k-nomial, nested, leaders; >= 1, k-nomial >= 2 */
    int ranks, root;
    const struct shape_groups *groups; /* of kinds by groups */
};

/* -1 for the root. */
int hud_shape_parent(const struct shape_tree *t, int rank);
/* The i-th child (0, 1, ...) in the order in which to announce to them, -1: no such child. */
int hud_shape_child(const struct shape_tree *t, int rank, int i);

#endif
