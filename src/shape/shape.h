/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shape.h - communication patterns.  Pure functions of small integers: no hwloc, no shared memory,
 * no state.
 *
 * Groups: paper 03, "Building the groups".  From the lowest level up, ranks in the same unit form a
 * group.  Its lowest rank leads it.  The leaders form the groups of the next level.  The last level
 * is a single group.
 *
 * Trees: parent and children of a rank for any root, computed during the call, without tables
 * (papers 01 and 04).
 */
#ifndef HUD_SHAPE_H
#define HUD_SHAPE_H

#include <stdbool.h>
#include <stddef.h>

enum {
    SHAPE_LEVELS = 8
}; /* maximum number of levels of groups: L2, L3, die, NUMA, socket, node, and some spare */

/*
 * Where the ranks are.  unit[level * ranks + rank] is the unit of that level within which the rank
 * is bound, or -1 if the rank spans several units.  Level 0 is the lowest.  Units of a level are
 * numbered 0, 1, ..., and each is within one unit of every level above.
 */
struct shape_place {
    int ranks, levels;
    const int *unit;
};

/* Groups of one level.  The participants of a level are the leaders of the level below; at level 0,
 * all ranks. */
struct shape_level {
    int *group_of; /* [ranks] index of the rank's group; -1 if the rank does not take part at
                      this level */
    int *first;    /* [groups + 1] group g has members[first[g]] .. members[first[g + 1] - 1] */
    int *members;  /* ascending within a group, so that the leader comes first */
    int groups;
    int from; /* level of the shape_place that has these units; -1 for the top with all remaining
                 ranks */
};

struct shape_groups {
    int ranks, levels; /* levels >= 1; the top level has one group, led by rank 0 */
    int *top;          /* [ranks] highest level at which the rank takes part */
    struct shape_level level[SHAPE_LEVELS];
};

/*
 * Builds the groups.  Returns 0, or -1 if out of memory; *groups is then empty.  ranks >= 1.
 *
 * A rank may span several units at a level (unbound, or bound to more than a single unit).  The
 * rank is then grouped at the first level with a unit that holds the rank, and at the latest at the
 * top.  At lower levels the rank is a group of its own, so group_of is >= 0 exactly at the levels 0
 * .. top[rank].  A level at which no group has two members is left out.  Of the other levels, the
 * lowest SHAPE_LEVELS - 1 are kept, and the top above them.
 */
int hud_shape_groups_build(const struct shape_place *place, struct shape_groups *groups);
/* Returns how many integers hud_shape_groups_build_in() needs in `block` for unit numbers below
 * `units`.  hud_shape_groups_build_in() builds the groups in memory allocated by the caller, so it
 * cannot fail.  The groups own the memory. */
size_t hud_shape_groups_ints(int ranks, int units);
void hud_shape_groups_build_in(const struct shape_place *place, int *block,
                               struct shape_groups *groups);
void hud_shape_groups_free(struct shape_groups *groups);

/* Returns the members of a rank's group at a level at which the rank takes part, the leader first,
 * and stores their number in *count. */
static inline const int *shape_members(const struct shape_groups *g, int level, int rank,
                                       int *count)
{
    const struct shape_level *l = &g->level[level];
    int of = l->group_of[rank];

    *count = l->first[of + 1] - l->first[of];
    return l->members + l->first[of];
}

/* Returns the index of a rank among ascending members.  The rank must be a member. */
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

/* Returns the leader of a rank's unit at a level.  The unit is the rank's group with all ranks
 * below it.  At level -1, the rank is its own unit. */
static inline int shape_leader(const struct shape_groups *g, int level, int rank)
{
    int count;

    for (int l = 0; l <= level; l++)
        rank = *shape_members(g, l, rank, &count);
    return rank;
}

/* Returns the smallest degree of a tree in which all members are within two steps of the first:
 * about the square root of their number. */
static inline int shape_two_steps(int members)
{
    int degree = 1;

    while (1 + degree + degree * degree < members)
        degree++;
    return degree;
}

enum shape_kind {
    SHAPE_FLAT,     /* the root has all other ranks as children */
    SHAPE_CHAIN,    /* each rank has one child */
    SHAPE_KARY,     /* complete k-ary, level by level: children of v are k*v + 1 .. k*v + k */
    SHAPE_BALANCED, /* k-ary; each subtree is a run of consecutive ranks, and their sizes differ
                       by at most one */
    SHAPE_KNOMIAL,  /* k-nomial: binomial for k = 2 */
    SHAPE_GROUPED,  /* a tree of groups: in each group, the root, or the member that leads to the
                       root, or else the leader tells the other members */
    SHAPE_NESTED,   /* a tree of groups: each group is a balanced k-ary tree below the member that
                       tells the others in SHAPE_GROUPED */
    /* Two levels.  Each lowest group is a balanced k-ary tree below its leader (or below the root,
     * if it is in the group); a wide group is a tree in two steps.  The heads of the groups are a
     * balanced k-ary tree. */
    SHAPE_LEADERS,
    SHAPE_KINDS
};

/* Documentation of parameters that are a degree, for users. */
#define SHAPE_DEGREE_DOC                                                                           \
    "maximum children of a rank in the trees kary, balanced and knomial, in a group of nested, "   \
    "and among leaders"

/* Reports whether trees of this kind need groups. */
static inline bool shape_by_groups(enum shape_kind kind)
{
    return kind >= SHAPE_GROUPED;
}

extern const char *const hud_shape_names[SHAPE_KINDS + 1]; /* "flat", "chain", ...; terminated by
                                                              NULL */

struct shape_tree {
    enum shape_kind kind;
    int degree; /* k of k-ary, balanced, k-nomial, nested, leaders; >= 1, k-nomial >= 2 */
    int ranks, root;
    const struct shape_groups *groups; /* groups of kinds by groups */
};

/* Returns the parent of a rank, and -1 for the root. */
int hud_shape_parent(const struct shape_tree *t, int rank);
/* Returns the i-th child (0, 1, ...) of a rank, in the order in which to announce to the children,
 * and -1 if there is no such child. */
int hud_shape_child(const struct shape_tree *t, int rank, int i);

#endif
