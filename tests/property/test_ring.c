/* SPDX-License-Identifier: BSD-3-Clause */
/* test_ring.c - positions in a ring of units: fragments fill each set exactly and do not cross its
 * end, and a unit is reused only after it was acknowledged. */
#include "shape/ring.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* Reports whether a set begins at this position. */
static bool at_set(const struct shape_ring *ring, uint64_t at)
{
    return at % ring->set_units == 0;
}

/* Returns the number of units of the next fragment of a message without end. */
static uint64_t next_units(const struct shape_ring *ring, uint64_t at, uint64_t f)
{
    return ring_part(ring->set_units - at % ring->set_units, f, UINT64_MAX);
}

static void no_fragment_crosses_a_set(void **state)
{
    (void)state;
    for (uint64_t units = 1; units < 70; units++)
        for (uint64_t sets = 1; sets <= 8 && sets <= units; sets++) {
            struct shape_ring ring = ring_cut(units, 0, sets);
            assert_true(ring.units <= units && ring.units > units - sets &&
                        ring.set_units * sets == ring.units);
            for (uint64_t f = 1; f < 20; f++)
                for (uint64_t at = 0, end = 0; at < 3 * ring.units;
                     at += next_units(&ring, at, f)) {
                    if (at_set(&ring, at))
                        end = at + ring.set_units;
                    assert_true(next_units(&ring, at, f) >= 1 && next_units(&ring, at, f) <= f);
                    assert_true(at + next_units(&ring, at, f) <= end);
                }
        }
}

/* Moves a place along, and compares it with a new place computed from the position. */
static void moved_place_equals_place_of_its_position(void **state)
{
    (void)state;
    for (uint64_t units = 1; units < 40; units++)
        for (uint64_t sets = 1; sets <= 8 && sets <= units; sets++)
            for (uint64_t f = 1; f < 10; f++) {
                struct shape_ring ring = ring_cut(units, 0, sets);
                struct ring_place p = ring_place_of(&ring, 0);
                while (p.at < 3 * ring.units) {
                    uint64_t step = ring_part(p.set_left, f, UINT64_MAX);
                    assert_int_equal(step, next_units(&ring, p.at, f));
                    ring_move(&ring, &p, step);
                    struct ring_place fresh = ring_place_of(&ring, p.at);
                    assert_int_equal(p.unit, p.at % ring.units);
                    assert_int_equal(p.set_left, ring.set_units - p.at % ring.set_units);
                    assert_memory_equal(&p, &fresh, sizeof p);
                    assert_true(ring_begins_set(&ring, &p) == at_set(&ring, p.at));
                }
            }
}

/* Verifies that the last fragment has exactly the units needed, other fragments are parts of the
 * set, and none crosses the set's end. */
static void last_fragment_has_exactly_the_units_needed(void **state)
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

/* Verifies that entering a set requires acknowledgment up to the end of the set in the same units
 * before. */
static void entering_a_set_waits_for_its_previous_use(void **state)
{
    struct shape_ring ring = ring_cut(12, 0, 3);

    (void)state;
    assert_int_equal(ring.set_units, 4);
    for (uint64_t at = 0; at < 12; at += 4)
        assert_int_equal(ring_must_be_acknowledged(&ring, at), 0);
    for (uint64_t at = 12; at < 60; at += 4)
        assert_int_equal(ring_must_be_acknowledged(&ring, at), at - 12 + 4);
}

static void ring_is_limited_by_wanted_units_and_by_memory(void **state)
{
    (void)state;
    assert_int_equal(ring_cut(248, 16, 2).units, 16);
    assert_int_equal(ring_cut(248, 2, 3).units, 3);
    assert_int_equal(ring_cut(248, 0, 1).units, 248);
    assert_int_equal(ring_cut(0, 0, 1).units, 0);
    assert_int_equal(ring_cut(3, 0, 4).units, 0);
    assert_int_equal(ring_cut(UINT64_MAX, 0, 1).units, RING_UNITS_MAX);
}

/* Cuts buffers of any size, as many as fit and are wanted, into equal sets. */
static void buffers_are_cut_into_equal_sets(void **state)
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

static void rounding_up_gives_the_begin_of_the_next_set(void **state)
{
    struct shape_ring ring = ring_cut(12, 0, 3);

    (void)state;
    for (uint64_t at = 0; at < 40; at++) {
        uint64_t next = ring_round_up(&ring, at);
        assert_true(next >= at && next < at + ring.set_units && at_set(&ring, next));
    }
}

/* Verifies the example in paper 01, "Parameters of the paper's plots": b = 4 MB, t_w = 50 t gives
 * f* = 14482 B, which is 16384 in whole pages. */
static void best_fragment_matches_the_paper(void **state)
{
    (void)state;
    assert_int_equal(ring_fragment(4 << 20, 50) * RING_UNIT, 16384);
    assert_int_equal(ring_fragment(1, 2560), 1);
}

enum { K = 1 << 10, M = 1 << 20, R = 2560 };

static struct shape_ring wished(const struct ring_wish *w, uint64_t sets)
{
    return ring_cut(10 * M / (RING_UNIT + 128), ring_wanted(w, sets, R), sets);
}

/* Verifies paper 01, "Choosing when other things are known": two given parameters determine the
 * third, and the ring has the size asked for. */
static void missing_ring_parameters_are_derived(void **state)
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
        { { 0, 0, 1, 0 }, 4 * K, 4 * K, 4 * M },             /* at least a page */
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

/* Verifies that rounding up to sets of equal length never gives fewer buffers than asked for, and
 * adds at most the rounding of each set. */
static void rounding_up_to_sets_never_reduces_buffers(void **state)
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
        cmocka_unit_test(no_fragment_crosses_a_set),
        cmocka_unit_test(moved_place_equals_place_of_its_position),
        cmocka_unit_test(last_fragment_has_exactly_the_units_needed),
        cmocka_unit_test(entering_a_set_waits_for_its_previous_use),
        cmocka_unit_test(ring_is_limited_by_wanted_units_and_by_memory),
        cmocka_unit_test(buffers_are_cut_into_equal_sets),
        cmocka_unit_test(rounding_up_gives_the_begin_of_the_next_set),
        cmocka_unit_test(best_fragment_matches_the_paper),
        cmocka_unit_test(missing_ring_parameters_are_derived),
        cmocka_unit_test(rounding_up_to_sets_never_reduces_buffers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
