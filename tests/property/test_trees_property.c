/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_trees_property.c - all kinds of trees, with all roots, for 1..40 ranks and degrees 1..8, and
 * random larger trees. Each rank is reached once, parent and children agree, degree and depth keep
 * their bounds, and trees of other roots are rotations.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "shape_checks.h"

#include <stdlib.h>

enum { MAX_RANKS = 1000 }; /* ranks */

static int count_children(const struct shape_tree *t, int rank)
{
    int count = 0;

    while (hud_shape_child(t, rank, count) >= 0)
        count++;
    for (int beyond = 1; beyond < 4; beyond++)
        assert_int_equal(hud_shape_child(t, rank, count + beyond), -1);
    return count;
}

/* Visits the subtree of a rank, marks the ranks reached and returns the subtree's height. */
static int walk(const struct shape_tree *t, int rank, int *reached)
{
    int height = 0, count = count_children(t, rank);

    assert_int_equal(reached[rank]++, 0);
    for (int i = 0; i < count; i++) {
        int child = hud_shape_child(t, rank, i), below;

        assert_in_range(child, 0, t->ranks - 1);
        assert_int_equal(hud_shape_parent(t, child), rank);
        below = walk(t, child, reached) + 1;
        if (t->kind != SHAPE_KNOMIAL && !shape_by_groups(t->kind) && i > 0)
            assert_true(below <= height); /* the child with the deepest subtree comes first */
        height = below > height ? below : height;
    }
    return height;
}

/* Returns the minimum height of a k-ary tree with at least this many ranks. */
static int kary_height(int k, int ranks)
{
    int height = 0;

    for (long row = 1, holds = 1; holds < ranks; holds += row) {
        row *= k;
        height++;
    }
    return height;
}

static int ceil_log(int k, int ranks)
{
    int log = 0;

    for (long power = 1; power < ranks; power *= k)
        log++;
    return log;
}

/* Returns the size of the largest group of the lowest level. */
static int widest(const struct shape_groups *g)
{
    int max = 0;

    for (int i = 0; i < g->level[0].groups; i++)
        max = g->level[0].first[i + 1] - g->level[0].first[i] > max
                  ? g->level[0].first[i + 1] - g->level[0].first[i]
                  : max;
    return max;
}

/* Returns the maximum number of steps from the leader within a lowest group. A large group takes
 * two steps, where the degree allows so few. */
static int within_group(int k, int members)
{
    int steps = kary_height(k, members);

    return members > 17 && steps < 2 ? 2 : steps;
}

static void check_bounds(const struct shape_tree *t, int height)
{
    int k = t->degree, of_root = count_children(t, t->root);

    switch (t->kind) {
    case SHAPE_FLAT:
        assert_int_equal(of_root, t->ranks - 1);
        break;
    case SHAPE_CHAIN:
        assert_int_equal(height, t->ranks - 1);
        break;
    case SHAPE_KARY:
    case SHAPE_BALANCED:
        assert_int_equal(height, kary_height(k, t->ranks));
        for (int r = 0; r < t->ranks; r++)
            assert_true(count_children(t, r) <= k);
        break;
    case SHAPE_KNOMIAL:
        assert_true(height <= ceil_log(k, t->ranks));
        assert_true(of_root <= (k - 1) * ceil_log(k, t->ranks) &&
                    of_root > (k - 1) * (ceil_log(k, t->ranks) - 1));
        break;
    case SHAPE_NESTED:
        for (int r = 0; r < t->ranks; r++)
            assert_true(count_children(t, r) <= k * (t->groups->top[r] + 1));
        break;
    case SHAPE_LEADERS:
        for (int r = 0; r < t->ranks; r++)
            assert_true(count_children(t, r) <= k * (1 + (t->groups->top[r] > 0 || r == t->root)));
        assert_in_range(height, 0,
                        kary_height(k, t->groups->level[0].groups) +
                            within_group(k, widest(t->groups)));
        break;
    default:
        assert_true(height <= 2 * t->groups->levels - 1);
        assert_true(t->root != 0 || height <= t->groups->levels);
    }
}

static int subtree_size(const struct shape_tree *t, int rank, int *lowest, int *highest)
{
    int size = 1, child;

    *lowest = *lowest < rank ? *lowest : rank;
    *highest = *highest > rank ? *highest : rank;
    for (int i = 0; (child = hud_shape_child(t, rank, i)) >= 0; i++)
        size += subtree_size(t, child, lowest, highest);
    return size;
}

/* Checks that the subtrees of a balanced tree are ranges of consecutive ranks and differ in size by
 * at most 1. */
static void check_balance(const struct shape_tree *t)
{
    for (int r = 0; r < t->ranks && t->root == 0; r++) {
        int max = 0, min = t->ranks, children = count_children(t, r);

        for (int i = 0; i < children; i++) {
            int child = hud_shape_child(t, r, i), lowest = child, highest = child;
            int size = subtree_size(t, child, &lowest, &highest);

            assert_int_equal(highest - lowest + 1, size);
            assert_int_equal(lowest, child);
            max = max > size ? max : size;
            min = min < size ? min : size;
        }
        assert_true(max <= min + (children < t->degree ? 1 : 0) || max - min <= 1);
    }
}

static void check_rotation(const struct shape_tree *t)
{
    struct shape_tree from_0 = *t;

    from_0.root = 0;
    for (int v = 1; v < t->ranks; v++)
        assert_int_equal(hud_shape_parent(t, (v + t->root) % t->ranks),
                         (hud_shape_parent(&from_0, v) + t->root) % t->ranks);
}

static void check_tree(const struct shape_tree *t)
{
    static int reached[MAX_RANKS];
    int height;

    for (int r = 0; r < t->ranks; r++)
        reached[r] = 0;
    assert_int_equal(hud_shape_parent(t, t->root), -1);
    height = walk(t, t->root, reached);
    for (int r = 0; r < t->ranks; r++)
        assert_int_equal(reached[r], 1);
    check_bounds(t, height);
    if (t->kind == SHAPE_BALANCED)
        check_balance(t);
    if (!shape_by_groups(t->kind))
        check_rotation(t);
}

/* Checks that every edge joins two members of a group, and at most a single edge enters a group
 * from outside. The group of the root is not entered. */
static void check_grouped(const struct shape_tree *t)
{
    for (int level = 0; level < t->groups->levels; level++) {
        const struct shape_level *l = &t->groups->level[level];

        for (int g = 0; g < l->groups; g++) {
            int entered = 0;

            for (int m = l->first[g]; m < l->first[g + 1]; m++) {
                int parent = hud_shape_parent(t, l->members[m]);
                entered += parent < 0 || l->group_of[parent] != g;
            }
            assert_int_equal(entered, 1);
        }
    }
    for (int r = 0; r < t->ranks; r++) {
        int parent = hud_shape_parent(t, r), together = r == t->root;

        for (int level = 0; level <= t->groups->top[r] && parent >= 0; level++)
            together |=
                t->groups->level[level].group_of[parent] == t->groups->level[level].group_of[r];
        assert_true(together);
    }
}

static void small_trees_are_consistent(void **state)
{
    (void)state;
    for (int kind = 0; kind < SHAPE_GROUPED; kind++)
        for (int ranks = 1; ranks <= 40; ranks++)
            for (int root = 0; root < ranks; root++)
                for (int degree = kind == SHAPE_KNOMIAL ? 2 : 1; degree <= 8; degree++)
                    check_tree(&(struct shape_tree){ .kind = (enum shape_kind)kind,
                                                     .degree = degree,
                                                     .ranks = ranks,
                                                     .root = root });
}

static void random_large_trees_are_consistent(void **state)
{
    (void)state;
    for (int i = 0; i < 100; i++) {
        int ranks = random_between(41, MAX_RANKS);

        check_tree(&(struct shape_tree){ .kind = (enum shape_kind)(i % SHAPE_GROUPED),
                                         .degree = i % 7 ? random_between(2, 70) : 2000000000,
                                         .ranks = ranks,
                                         .root = random_between(0, ranks - 1) });
    }
}

/* Checks that with a degree large enough for every group, nested and grouped trees are equal,
 * because each leader then serves all members itself. */
static void check_nested(const struct shape_tree *t)
{
    struct shape_tree wide = { SHAPE_NESTED, t->ranks, t->ranks, t->root, t->groups },
                      grouped = { .kind = SHAPE_GROUPED };

    grouped.ranks = t->ranks, grouped.root = t->root, grouped.groups = t->groups;
    for (int r = 0; r < t->ranks; r++)
        assert_int_equal(hud_shape_parent(&wide, r), hud_shape_parent(&grouped, r));
}

/* Checks that heads (the root, and the leaders of the lowest groups) get the message from heads,
 * and all other ranks within their group. A head serves other heads before its group. */
static void check_leaders(const struct shape_tree *t)
{
    const struct shape_level *lowest = &t->groups->level[0];

    for (int r = 0; r < t->ranks; r++) {
        int group = lowest->group_of[r], parent = hud_shape_parent(t, r), child;
        bool heads =
                 r == (lowest->group_of[t->root] == group ? t->root
                                                          : lowest->members[lowest->first[group]]),
             inside = false;

        assert_true(parent < 0 || (lowest->group_of[parent] == group) != heads);
        for (int i = 0; (child = hud_shape_child(t, r, i)) >= 0; i++) {
            assert_true(!inside || lowest->group_of[child] == group);
            inside = lowest->group_of[child] == group;
        }
    }
}

/* Checks that with a single level the tree equals a nested tree. A large group takes two steps. */
static void check_one_level(const struct shape_tree *t)
{
    struct shape_tree nested = *t;
    int two = shape_two_steps(t->ranks);

    nested.kind = SHAPE_NESTED;
    nested.degree = t->ranks > 17 && two < t->degree ? two : t->degree;
    for (int r = 0; r < t->ranks && t->groups->levels == 1; r++)
        assert_int_equal(hud_shape_parent(t, r), hud_shape_parent(&nested, r));
}

static void check_by_groups(const struct shape_tree *t)
{
    check_tree(t);
    if (t->kind == SHAPE_LEADERS) {
        check_leaders(t);
        check_one_level(t);
    } else {
        check_grouped(t);
        check_nested(t);
    }
}

static void trees_of_random_groups_are_consistent_for_all_roots(void **state)
{
    (void)state;
    for (int i = 0; i < 900; i++) {
        struct shape_place place;
        struct shape_groups g;
        struct shape_tree t = { .kind = (enum shape_kind)(SHAPE_GROUPED + i % 3),
                                .degree = i / 3 % 6 == 5 ? 40 : 1 + i / 3 % 6,
                                .groups = &g };

        random_place(i < 300 ? 1 + i % 40 : random_between(1, 100),
                     i % 5 ? SHAPE_LEVELS - 1 : i / 5 % 2, i % 4, &place);
        assert_int_equal(hud_shape_groups_build(&place, &g), 0);
        t.ranks = place.ranks;
        for (t.root = 0; t.root < t.ranks; t.root++)
            check_by_groups(&t);
        hud_shape_groups_free(&g);
        free((void *)(uintptr_t)place.unit);
    }
}

/* Verifies that in a full k-nomial tree children are served in the order of decreasing subtree
 * size. */
static void knomial_parent_serves_largest_subtree_first(void **state)
{
    (void)state;
    for (int k = 2; k <= 4; k++) {
        struct shape_tree t = { .kind = SHAPE_KNOMIAL, .degree = k, .ranks = k * k * k * k };

        for (int r = 0; r < t.ranks; r++)
            for (int i = 1, size = t.ranks, child; (child = hud_shape_child(&t, r, i)) >= 0; i++) {
                int lowest = child, highest = child,
                    now = subtree_size(&t, child, &lowest, &highest);
                assert_true(now <= size);
                size = now;
            }
    }
}

static void shape_kinds_have_names(void **state)
{
    (void)state;
    assert_string_equal(hud_shape_names[SHAPE_FLAT], "flat");
    assert_string_equal(hud_shape_names[SHAPE_GROUPED], "grouped");
    assert_string_equal(hud_shape_names[SHAPE_NESTED], "nested");
    assert_string_equal(hud_shape_names[SHAPE_LEADERS], "leaders");
    assert_null(hud_shape_names[SHAPE_KINDS]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_trees_are_consistent),
        cmocka_unit_test(random_large_trees_are_consistent),
        cmocka_unit_test(trees_of_random_groups_are_consistent_for_all_roots),
        cmocka_unit_test(knomial_parent_serves_largest_subtree_first),
        cmocka_unit_test(shape_kinds_have_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
