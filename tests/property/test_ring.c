/* SPDX-License-Identifier: BSD-3-Clause */
/* test_ring.c - positions in a queue: fragments fill a set exactly, no fragment crosses one, and a
 * unit is used again only after it was left. */
#include "shape/ring.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void fragments_fill_sets(void **state)
{
    (void)state;
    for (uint64_t units = 1; units < 70; units++)
        for (uint64_t sets = 1; sets <= 8 && sets <= units; sets++) {
            struct shape_ring ring = ring_make(units * (RING_UNIT + 128), 128, 0, sets);
            assert_true(ring.units <= units && ring.units > units - sets &&
                        ring.set_units * sets == ring.units);
            for (uint64_t f = 1; f < 20; f++)
                for (uint64_t at = 0, end = 0; at < 3 * ring.units; at += ring_next(&ring, at, f)) {
                    if (ring_at_set(&ring, at))
                        end = at + ring.set_units;
                    assert_true(ring_next(&ring, at, f) >= 1 && ring_next(&ring, at, f) <= f);
                    assert_true(at + ring_next(&ring, at, f) <= end);
                }
        }
}

/* A place that is moved along says what the position does. */
static void a_place_follows_its_position(void **state)
{
    (void)state;
    for (uint64_t units = 1; units < 40; units++)
        for (uint64_t sets = 1; sets <= 8 && sets <= units; sets++)
            for (uint64_t f = 1; f < 10; f++) {
                struct shape_ring ring = ring_cut(units, 0, sets);
                struct ring_place p = ring_place_of(&ring, 0);
                while (p.at < 3 * ring.units) {
                    uint64_t step = ring_part(p.set_left, f, UINT64_MAX);
                    assert_int_equal(step, ring_next(&ring, p.at, f));
                    ring_move(&ring, &p, step);
                    struct ring_place fresh = ring_place_of(&ring, p.at);
                    assert_int_equal(p.unit, p.at % ring.units);
                    assert_int_equal(p.set_left, ring.set_units - p.at % ring.set_units);
                    assert_memory_equal(&p, &fresh, sizeof p);
                    assert_true(ring_begins_set(&ring, &p) == ring_at_set(&ring, p.at));
                }
            }
}

/* The last fragment takes what is needed and no more, others are parts of the set; nothing crosses
 * it. */
static void a_part_is_what_is_needed_at_most(void **state)
{
    (void)state;
    for (uint64_t left = 1; left < 30; left++)
        for (uint64_t f = 1; f < 30; f++)
            for (uint64_t needed = 1; needed < 60; needed++) {
                uint64_t part = ring_part(left, f, needed);
                assert_true(part >= 1 && part <= f && part <= left);
                assert_true(needed > f || needed > left || part == needed);
            }
}

/* Entering a set asks for exactly the end of the set that lay in the same units before. */
static void a_set_waits_for_its_last_use(void **state)
{
    struct shape_ring ring = ring_make(12 * (RING_UNIT + 128), 128, 0, 3);

    (void)state;
    assert_int_equal(ring.set_units, 4);
    for (uint64_t at = 0; at < 12; at += 4)
        assert_int_equal(ring_must_be_acknowledged(&ring, at), 0);
    for (uint64_t at = 12; at < 60; at += 4)
        assert_int_equal(ring_must_be_acknowledged(&ring, at), at - 12 + 4);
}

static void what_is_wanted_limits_a_ring(void **state)
{
    (void)state;
    assert_int_equal(ring_make(1 << 20, 128, 16, 2).units, 16);
    assert_int_equal(ring_make(1 << 20, 128, 2, 3).units, 3);
    assert_int_equal(ring_make(1 << 20, 128, 0, 1).units, (1 << 20) / (RING_UNIT + 128));
    assert_int_equal(ring_make(RING_UNIT, 128, 0, 1).units, 0);
    assert_int_equal(ring_make(3 * (RING_UNIT + 128), 128, 0, 4).units, 0);
    assert_int_equal(ring_make(UINT64_MAX / 2, 128, 0, 1).units, RING_UNITS_MAX);
}

/* Buffers of any size, as many as fit and are wanted, in equal sets. */
static void whole_buffers_are_cut_into_sets(void **state)
{
    (void)state;
    for (uint64_t fit = 0; fit < 40; fit++)
        for (uint64_t wanted = 0; wanted < 40; wanted++)
            for (uint64_t sets = 1; sets <= 4; sets++) {
                struct shape_ring ring = ring_cut(fit, wanted, sets);
                uint64_t max = wanted == 0 || wanted > fit    ? fit
                               : wanted < sets && fit >= sets ? sets
                                                              : wanted;
                assert_int_equal(ring.units, max / sets * sets);
                assert_int_equal(ring.set_units * sets, ring.units);
            }
}

static void an_operation_may_begin_with_a_set(void **state)
{
    struct shape_ring ring = ring_cut(12, 0, 3);

    (void)state;
    for (uint64_t at = 0; at < 40; at++) {
        uint64_t next = ring_round_up(&ring, at);
        assert_true(next >= at && next < at + ring.set_units && ring_at_set(&ring, next));
    }
}

/* Paper 01, "Parameters of the paper's plots": b = 4 MB, t_w = 50 t: f* = 14482 B, 16384 in whole
 * pages. */
static void best_fragment_is_the_papers(void **state)
{
    (void)state;
    assert_int_equal(ring_fragment(4 << 20, 50) * RING_UNIT, 16384);
    assert_int_equal(ring_fragment(1, 2560), 1);
}

enum { K = 1 << 10, M = 1 << 20, R = 2560 };

static struct shape_ring wished(const struct ring_wish *w, uint64_t sets)
{
    return ring_make(10 * M, 128, ring_wanted(w, sets, R), sets);
}

/* Paper 01, "Choosing when other things are known": whatever two are given, the third follows, and
 * the queue is what was asked for. */
static void what_is_not_given_follows(void **state)
{
    static const struct {
        struct ring_wish wish; /* f, s, b, m */
        uint64_t bytes, fragment, n;
    } cases[] = {
        { { 8 * K, 64, 0, 0 }, 512 * K, 8 * K, 16 * M }, /* s and f */
        { { 0, 0, 4 * M, 0 },
          4 * M,
          128 * K,
          16 * M }, /* b: f = sqrt(b t_w / t) = 103.6K, in powers of two of pages */
        { { 0, 0, 4 * M, 0 }, 4 * M, 8 * K, 16 * K }, /* a shorter message has its own best f */
        { { 0, 0, 0, M }, M, 64 * K, M }, /* rule 1: f = sqrt(m t_w / t) = 51.8K, s = m / f */
        { { 8 * K, 0, 0, 100 * K }, 104 * K, 8 * K, 4 * K }, /* rule 2: s = 13 */
        { { 0, 4, 0, M }, M, 256 * K, 4 * K },               /* rule 3: f = m / s */
        { { 0, 16, M, 0 }, M, 64 * K, 4 * K },               /* b and s: f = b / s */
        { { 32 * K, 0, M, 0 }, M, 32 * K, 4 * K },           /* b and f */
        { { 0, 0, 1, 0 }, 4 * K, 4 * K, 4 * M },             /* never less than a page */
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct shape_ring ring = wished(&cases[i].wish, 1);
        assert_int_equal(ring.units * RING_UNIT, cases[i].bytes);
        assert_int_equal(ring_fragment_of(&cases[i].wish, &ring, cases[i].n, R) * RING_UNIT,
                         cases[i].fragment);
    }
    assert_int_equal(wished(&(struct ring_wish){ 0 }, 1).units, 10 * M / (RING_UNIT + 128));
}

/* Sets are of equal length: never fewer buffers than asked for, and no more than a set's rounding
 * beyond. */
static void sets_round_up(void **state)
{
    (void)state;
    for (uint64_t sets = 1; sets <= 8; sets++)
        for (uint64_t f = 1; f < 10; f++)
            for (uint64_t n = 1; n < 30; n++) {
                struct ring_wish both = { .fragment = f * RING_UNIT, .buffers = n },
                                 longest = { .fragment = f * RING_UNIT,
                                             .message = n * RING_UNIT - 1 };
                uint64_t units = wished(&both, sets).units;
                assert_true(units >= n * f && units < n * f + sets);
                assert_true(wished(&longest, sets).units >= n &&
                            wished(&longest, sets).units < n + f + sets);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fragments_fill_sets),
        cmocka_unit_test(a_place_follows_its_position),
        cmocka_unit_test(a_part_is_what_is_needed_at_most),
        cmocka_unit_test(a_set_waits_for_its_last_use),
        cmocka_unit_test(what_is_wanted_limits_a_ring),
        cmocka_unit_test(whole_buffers_are_cut_into_sets),
        cmocka_unit_test(an_operation_may_begin_with_a_set),
        cmocka_unit_test(best_fragment_is_the_papers),
        cmocka_unit_test(what_is_not_given_follows),
        cmocka_unit_test(sets_round_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
