/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_trees_property.c - every kind of tree, every root, every rank for 1..40 ranks and degrees
 * 1..8, and random larger ones: each rank is reached once, parent and children agree, degree and
 * depth keep their bounds, roots are rotations.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "shape_checks.h"

#include <stdlib.h>

enum { MOST = 1000 }; /* ranks */

static int count_children(const struct shape_tree *t, int rank)
{
    int count = 0;

    while (hud_shape_child(t, rank, count) >= 0)
        count++;
    for (int beyond = 1; beyond < 4; beyond++)
        assert_int_equal(hud_shape_child(t, rank, count + beyond), -1);
    return count;
}

/* Walks down from the root; returns the height of rank's subtree and marks what it reaches. */
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
            assert_true(below <= height); /* the deepest is told first */
        height = below > height ? below : height;
    }
    return height;
}

/* The least h so that a k-ary tree of height h holds so many ranks. */
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

/* Members of the widest of the lowest groups. */
static int widest(const struct shape_groups *g)
{
    int max = 0;

    for (int i = 0; i < g->level[0].groups; i++)
        max = g->level[0].first[i + 1] - g->level[0].first[i] > max
                  ? g->level[0].first[i + 1] - g->level[0].first[i]
                  : max;
    return max;
}

/* The most steps that leaders take in a lowest group: a wide one takes two, where the degree allows
 * as few. */
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

/* Balanced: subtrees are runs of ranks and differ by one at most. */
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
    static int reached[MOST];
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

/* Every edge joins two members of a group, and a group is entered from outside at most once (not at
 * all if the root is inside). */
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

static void every_small_tree(void **state)
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

static void random_large_trees(void **state)
{
    (void)state;
    for (int i = 0; i < 100; i++) {
        int ranks = random_between(41, MOST);

        check_tree(&(struct shape_tree){ .kind = (enum shape_kind)(i % SHAPE_GROUPED),
                                         .degree = i % 7 ? random_between(2, 70) : 2000000000,
                                         .ranks = ranks,
                                         .root = random_between(0, ranks - 1) });
    }
}

/* A group of no more members than the degree and one is told by its head alone: then both kinds are
 * one. */
static void check_nested(const struct shape_tree *t)
{
    struct shape_tree wide = { SHAPE_NESTED, t->ranks, t->ranks, t->root, t->groups },
                      grouped = { .kind = SHAPE_GROUPED };

    grouped.ranks = t->ranks, grouped.root = t->root, grouped.groups = t->groups;
    for (int r = 0; r < t->ranks; r++)
        assert_int_equal(hud_shape_parent(&wide, r), hud_shape_parent(&grouped, r));
}

/* A head, the root or the leader of a lowest group, is told by a head, all others within their
 * group; below a head the other heads come first. */
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

/* Where there is one level, what nested makes of it; a wide one in two steps. */
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

static void every_root_of_random_groups(void **state)
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

/* In a full k-nomial tree the deepest child is told first, too. */
static void knomial_order(void **state)
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

static void names(void **state)
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
        cmocka_unit_test(every_small_tree),
        cmocka_unit_test(random_large_trees),
        cmocka_unit_test(every_root_of_random_groups),
        cmocka_unit_test(knomial_order),
        cmocka_unit_test(names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
