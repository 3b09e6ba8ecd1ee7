/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_circle.c - the circle visits each rank except the root once, group by group, and the rounds
 * and segments contain each byte of the message once and fit their buffers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "lab/alg/bcast/circle.h"
#include "lab/alg/rounds.h"
#include "shape_checks.h"

#include <stdlib.h>

/* Follows the whole circle backwards from the first rank that reads a segment. The group behind
 * this rank comes first, in descending order of ranks. */
static void check_order(const struct circle *o, int segment)
{
    struct circle_place at = { .group = segment }, last = at;

    for (int i = 1; i < o->groups->ranks; i++, last = at) {
        circle_back(o, &at);
        assert_int_not_equal(at.rank, o->root);
        assert_int_equal(circle_group(o, at.rank), (segment + at.behind) % o->count);
        assert_in_range(at.behind, 1, o->count);
        assert_true(at.behind > last.behind || (at.behind == last.behind && at.rank < last.rank));
    }
}

/* Checks that a number of places backwards, followed by the remaining places, ends at the same rank
 * after a full circle. */
static void check_before(const struct circle *o, int rank)
{
    int others = o->groups->ranks - 1, places = random_between(0, others);
    struct circle_place before = circle_before(o, rank, places),
                        round = circle_before(o, before.rank, others - places);

    assert_int_equal(round.rank, rank);
    assert_int_equal(before.behind + round.behind, o->count);
    assert_int_equal(circle_before(o, rank, 0).behind, 0);
    assert_int_equal((circle_group(o, rank) + before.behind) % o->count,
                     circle_group(o, before.rank));
}

static void circle_visits_each_rank_except_the_root_once(void **state)
{
    (void)state;
    for (int i = 0; i < 1000; i++) {
        struct shape_place place;
        struct shape_groups g;

        random_place(random_between(2, 30), 3, i % 4, &place);
        assert_int_equal(hud_shape_groups_build(&place, &g), 0);
        struct circle o = circle_of(&g, random_between(0, g.ranks - 1));
        for (int segment = 0; segment < o.count; segment++)
            check_order(&o, segment);
        for (int r = 0; r < g.ranks; r++)
            if (r != o.root)
                check_before(&o, r);
        assert_in_range(circle_limit(&o, i % 40), 1, g.ranks - 1);
        hud_shape_groups_free(&g);
        free((void *)(uintptr_t)place.unit);
    }
}

/* Checks that the segments of a round are contiguous and fit halves of `half` bytes. */
static void check_round(size_t bytes, int count, size_t unit, size_t half)
{
    size_t end = 0;

    for (int s = 0; s < count; s++) {
        struct rounds_segment part = rounds_segment_of(bytes, count, unit, s);
        assert_in_range(part.bytes, 0, half);
        assert_int_equal(part.first_bytes % unit, 0);
        if (part.bytes != 0)
            assert_int_equal(part.first_bytes, end);
        end += part.bytes;
    }
    assert_int_equal(end, bytes);
}

static void rounds_contain_each_byte_once(void **state)
{
    (void)state;
    for (int i = 0; i < 20000; i++) {
        int count = random_between(1, 9);
        size_t unit = (size_t)random_between(1, 16), half = unit * (size_t)random_between(1, 20),
               max = half * (size_t)count;
        size_t message = (size_t)random_between(1, 2000), rounds = 0;

        for (size_t left = message; left != 0; rounds++) {
            size_t bytes = rounds_next(left, max);
            assert_in_range(bytes, 1, max);
            check_round(bytes, count, unit, half);
            left -= bytes;
        }
        assert_int_equal(rounds, (message + max - 1) / max);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(circle_visits_each_rank_except_the_root_once),
        cmocka_unit_test(rounds_contain_each_byte_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
