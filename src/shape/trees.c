/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shape/trees.c - parent and children of a rank, computed during the call, without tables.
 *
 * Source  papers 01 and 04 (flat, chain, k-ary, k-nomial); grouped, nested, leaders: this project,
 *         over paper 03's groups.
 * Root    flat, chain, k-ary and k-nomial are defined for root 0 and rotated: v = (rank - root)
 *         modulo ranks is a rank's number in the tree.  The other kinds keep every rank in its
 *         groups.  grouped and nested reverse the edges on the path from the root to the top.  In
 *         leaders, the root heads its own lowest group, in place of the leader, and also the tree
 *         of all heads.
 * Cost    flat, chain, k-ary O(1); balanced, k-nomial O(log ranks); grouped, nested O(log group)
 *         for each level at which the rank takes part, which is one level for a leaf; leaders O(log
 *         group), and O(log groups) more for a head.
 */
#include "shape/shape.h"

#include <stddef.h>

const char *const hud_shape_names[SHAPE_KINDS + 1] = { "flat",     "chain",   "kary",
                                                       "balanced", "knomial", "grouped",
                                                       "nested",   "leaders", NULL };

/* ---- flat, chain, complete k-ary ------------------------------------------------------------- */

static int flat_parent(const struct shape_tree *t, int v)
{
    (void)t, (void)v;
    return 0;
}

static int flat_child(const struct shape_tree *t, int v, int i)
{
    return v == 0 && i < t->ranks - 1 ? i + 1 : -1;
}

static int chain_parent(const struct shape_tree *t, int v)
{
    (void)t;
    return v - 1;
}

static int chain_child(const struct shape_tree *t, int v, int i)
{
    return i == 0 && v < t->ranks - 1 ? v + 1 : -1;
}

static int kary_parent(const struct shape_tree *t, int v)
{
    return (v - 1) / t->degree;
}

static int kary_child(const struct shape_tree *t, int v, int i)
{
    long child = (long)t->degree * v + 1 + i;

    return i < t->degree && child < t->ranks ? (int)child : -1;
}

/* ---- balanced k-ary -------------------------------------------------------------------------- */

/* A subtree: the ranks first .. first + size - 1, whose root is the first. */
struct run {
    int first, size;
};

/* Returns the i-th part of the ranks below a run's root.  The remainder makes the first parts one
 * rank larger. */
static struct run run_part(struct run r, int degree, int i)
{
    int below = r.size - 1, small = below / degree, larger = below % degree;

    return (struct run){ r.first + 1 + i * small + (i < larger ? i : larger),
                         small + (i < larger) };
}

/* Returns the index of the part that contains v, which is below the run's root. */
static int run_part_of(struct run r, int degree, int v)
{
    int below = r.size - 1, small = below / degree, larger = below % degree, at = v - r.first - 1;

    return at / (small + 1) < larger ? at / (small + 1) : (at - larger) / small;
}

/* Returns the subtree of v, and stores v's parent. */
static struct run run_find(const struct shape_tree *t, int v, int *parent)
{
    struct run r = { 0, t->ranks };

    if (t->degree == 1) { /* a chain needs no loop */
        *parent = v - 1;
        return (struct run){ v, t->ranks - v };
    }
    for (*parent = -1; r.first != v; r = run_part(r, t->degree, run_part_of(r, t->degree, v)))
        *parent = r.first;
    return r;
}

static int balanced_parent(const struct shape_tree *t, int v)
{
    int parent;

    run_find(t, v, &parent);
    return parent;
}

static int balanced_children(const struct shape_tree *t, int v)
{
    int parent, below = run_find(t, v, &parent).size - 1;

    return below < t->degree ? below : t->degree;
}

static int balanced_child(const struct shape_tree *t, int v, int i)
{
    int parent;
    struct run r = run_find(t, v, &parent);

    return i < balanced_children(t, v) ? run_part(r, t->degree, i).first : -1;
}

/* ---- k-nomial: a parent clears the lowest digit of v in base k that is not zero -------------- */

static int knomial_parent(const struct shape_tree *t, int v)
{
    long step = t->degree; /* step of the digit above the current digit */

    while (v % step == 0)
        step *= t->degree;
    return (int)(v - v % step);
}

/* Returns the i-th child of v.  The children are v + d * k^j for each zero digit j below the lowest
 * nonzero digit.  Large steps come first, since their subtrees are deeper. */
static int knomial_child(const struct shape_tree *t, int v, int i)
{
    long k = t->degree, step = 1, here;

    if (v % k != 0 || v == t->ranks - 1)
        return -1;
    while (v + step * k < t->ranks && v % (step * k * k) == 0)
        step *= k;
    here = (t->ranks - 1 - v) / step; /* only the largest step can lead beyond the last rank */
    here = here < k - 1 ? here : k - 1;
    while (i >= here && step > 0) {
        i -= (int)here;
        here = k - 1;
        step /= k;
    }
    return step > 0 ? (int)(v + (i + 1) * step) : -1;
}

/* ---- ranks and their numbers in a tree ------------------------------------------------------- */

static int rotation(const struct shape_tree *t)
{
    return shape_by_groups(t->kind) ? 0 : t->root;
}

static int to_number(const struct shape_tree *t, int rank)
{
    int v = rank - rotation(t);

    return v < 0 ? v + t->ranks : v;
}

static int to_rank(const struct shape_tree *t, int v)
{
    int turned = v - (t->ranks - rotation(t));

    if (v < 0)
        return -1;
    return turned < 0 ? turned + t->ranks : turned;
}

/* ---- grouped, nested ------------------------------------------------------------------------- */

/*
 * Stores the path of the root in path[0 .. levels - 1]: path[0] is the root, and path[l + 1] leads
 * path[l]'s group at level l.  path[l] heads its group at level l in place of the leader; every
 * other group is headed by its leader.
 */
static void root_path(const struct shape_tree *t, int levels, int path[])
{
    int count;

    path[0] = t->root;
    for (int l = 0; l < levels - 1; l++)
        path[l + 1] = shape_members(t->groups, l, path[l], &count)[0];
}

/* The group of a rank at a level, which is a tree of its own.  Number 0 is its head, and the other
 * members follow in order.  In a grouped tree, all others are the head's children. */
struct group {
    struct shape_tree tree; /* balanced */
    const int *members;
    int head; /* index of the head in members */
};

static struct group group_at(const struct shape_tree *t, int level, int rank, const int path[])
{
    const struct shape_level *l = &t->groups->level[level];
    struct group g = { .tree = { .degree = t->kind == SHAPE_GROUPED ? t->ranks : t->degree } };

    g.members = shape_members(t->groups, level, rank, &g.tree.ranks);
    if (l->group_of[path[level]] == l->group_of[rank])
        g.head = shape_index(g.members, g.tree.ranks, path[level]);
    return g;
}

static int group_number(const struct group *g, int rank)
{
    int at = shape_index(g->members, g->tree.ranks, rank);

    return at == g->head ? 0 : at + (at < g->head);
}

static int group_rank(const struct group *g, int v)
{
    return g->members[v == 0 ? g->head : v - (v <= g->head)];
}

/* Returns the parent of a rank, in the only group in which the rank takes part and another rank is
 * the head. */
static int grouped_parent(const struct shape_tree *t, int rank)
{
    int path[SHAPE_LEVELS], parent = rank;

    root_path(t, t->groups->top[rank] + 1, path);
    for (int level = t->groups->top[rank]; level >= 0 && parent == rank; level--) {
        const struct group g = group_at(t, level, rank, path);
        int v = group_number(&g, rank);
        parent = v == 0 ? rank : group_rank(&g, balanced_parent(&g.tree, v));
    }
    return parent;
}

/* Returns the i-th child of a rank.  High levels come first: the leader is the first member of its
 * group, and if the leader is a child, the whole rest of the machine is below this child. */
static int grouped_child(const struct shape_tree *t, int rank, int i)
{
    int path[SHAPE_LEVELS];

    root_path(t, t->groups->top[rank] + 1, path);
    for (int level = t->groups->top[rank]; level >= 0; level--) {
        const struct group g = group_at(t, level, rank, path);
        int v = group_number(&g, rank), children = balanced_children(&g.tree, v);

        if (i < children)
            return group_rank(&g, balanced_child(&g.tree, v, i));
        i -= children;
    }
    return -1;
}

/* ---- leaders: the heads of the lowest groups are a tree of their own, in the order of the groups,
 * rotated so that the root's group comes first ------------ */

enum {
    AT_ONCE = 16
}; /* maximum number of readers of a line that do not delay each other; more readers would queue
      for the line, so such a group is read in two steps */

/* Returns the lowest group of a rank.  The root heads the group if it is a member, and else the
 * leader. */
static struct group lowest_group(const struct shape_tree *t, int rank)
{
    struct group g = group_at(t, 0, rank, &t->root);
    int steps = shape_two_steps(g.tree.ranks);

    if (g.tree.ranks - 1 > AT_ONCE && steps < g.tree.degree)
        g.tree.degree = steps;
    return g;
}

/* Returns the tree of the lowest groups, each represented by its head. */
static struct shape_tree heads_tree(const struct shape_tree *t)
{
    const struct shape_level *lowest = &t->groups->level[0];

    return (struct shape_tree){ .kind = SHAPE_BALANCED,
                                .degree = t->degree,
                                .ranks = lowest->groups,
                                .root = lowest->group_of[t->root] };
}

static int head_of(const struct shape_tree *t, int group)
{
    const struct shape_level *lowest = &t->groups->level[0];

    return group == lowest->group_of[t->root] ? t->root : lowest->members[lowest->first[group]];
}

static int leaders_parent(const struct shape_tree *t, int rank)
{
    const struct group g = lowest_group(t, rank);
    const struct shape_tree heads = heads_tree(t);
    int v = group_number(&g, rank);

    if (v > 0)
        return group_rank(&g, balanced_parent(&g.tree, v));
    return head_of(
        t, to_rank(&heads,
                   balanced_parent(&heads, to_number(&heads, t->groups->level[0].group_of[rank]))));
}

/* Returns the i-th child of a rank.  Heads come first, because whole groups are below them. */
static int leaders_child(const struct shape_tree *t, int rank, int i)
{
    const struct group g = lowest_group(t, rank);
    const struct shape_tree heads = heads_tree(t);
    int v = group_number(&g, rank), number = to_number(&heads, t->groups->level[0].group_of[rank]);
    int below = v == 0 ? balanced_children(&heads, number) : 0; /* number of children that are
                                                                   heads */

    if (i < below)
        return head_of(t, to_rank(&heads, balanced_child(&heads, number, i)));
    i -= below;
    return i < balanced_children(&g.tree, v) ? group_rank(&g, balanced_child(&g.tree, v, i)) : -1;
}

/* ---- any kind -------------------------------------------------------------------------------- */

static const struct {
    int (*parent)(const struct shape_tree *t, int v); /* not called for the root */
    int (*child)(const struct shape_tree *t, int v, int i);
} kinds[SHAPE_KINDS] = {
    [SHAPE_FLAT] = { flat_parent, flat_child },
    [SHAPE_CHAIN] = { chain_parent, chain_child },
    [SHAPE_KARY] = { kary_parent, kary_child },
    [SHAPE_BALANCED] = { balanced_parent, balanced_child },
    [SHAPE_KNOMIAL] = { knomial_parent, knomial_child },
    [SHAPE_GROUPED] = { grouped_parent, grouped_child },
    [SHAPE_NESTED] = { grouped_parent, grouped_child },
    [SHAPE_LEADERS] = { leaders_parent, leaders_child },
};

int hud_shape_parent(const struct shape_tree *t, int rank)
{
    if (rank == t->root)
        return -1;
    if (t->ranks == 2) /* a shortcut with the result of every kind */
        return t->root;
    return to_rank(t, kinds[t->kind].parent(t, to_number(t, rank)));
}

int hud_shape_child(const struct shape_tree *t, int rank, int i)
{
    if (t->ranks == 2)
        return rank == t->root && i == 0 ? 1 - rank : -1;
    return to_rank(t, kinds[t->kind].child(t, to_number(t, rank), i));
}
