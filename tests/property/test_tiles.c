/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_tiles.c - tiles and windows consist of whole lines and fit. Counts that are published for an
 * operation exceed all earlier counts and identify the operation. Tiles in flight have headers of
 * their own.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "shape/tiles.h"
#include "shape_checks.h"

enum { TIMES = 20000, MANY = 1 << 30 };

static void sizes_are_whole_lines_that_fit(void **state)
{
    (void)state;
    for (int i = 0; i < TIMES; i++) {
        size_t slot = (size_t)random_between(1, i % 2 ? 64 : 1 << 14) * TILES_LINE,
               cache = (size_t)random_between(0, i % 3 ? 1 << 20 : 1 << 14);
        size_t window = tiles_window(slot, cache),
               wanted = (size_t)random_between(0, i % 5 ? 1 << 16 : 300),
               tile = tiles_bytes(wanted, window);

        assert_int_equal(window % TILES_LINE, 0);
        assert_in_range(window, TILES_LINE, slot);
        assert_true(window == slot || window <= TILES_MIN || window <= cache);
        assert_true(window == slot || window >= TILES_MIN);
        assert_int_equal(tile % TILES_LINE, 0);
        assert_in_range(tile, TILES_LINE, window);
        assert_true(wanted == 0 ? tile * TILES_WINDOW >= window &&
                                      (tile - TILES_LINE) * TILES_WINDOW < window
                                : tile >= wanted || tile == window);
    }
}

static void runs_do_not_cross_the_end(void **state)
{
    (void)state;
    for (int i = 0; i < TIMES; i++) {
        size_t window = (size_t)random_between(1, 64) * TILES_LINE,
               reach = (size_t)random_between(1, (int)(window / TILES_LINE)) * TILES_LINE,
               bytes = (size_t)random_between(0, (int)reach);
        uint64_t at = (uint64_t)random_between(0, 1 << 20) * TILES_LINE,
                 run = tiles_run(at, bytes, window, reach);

        assert_true(run % window + bytes <= reach);
        assert_true(run == at ||
                    (run % window == 0 && run - at <= window && at % window + bytes > reach));
    }
}

static void short_blocks_reach_a_few_pages(void **state)
{
    (void)state;
    for (int i = 0; i < TIMES; i++) {
        size_t window = (size_t)random_between(1, i % 2 ? 64 : 1 << 14) * TILES_LINE,
               bytes = (size_t)random_between(0, (int)(window < 16384 ? window : 16384)),
               reach = tiles_reach(bytes, window);

        assert_in_range(reach, bytes, window);
        assert_true(reach == window || (bytes <= TILES_SHORT && reach == TILES_WALK));
        assert_true(bytes > TILES_SHORT || reach <= TILES_WALK);
    }
}

static void counts_grow_and_identify_the_operation(void **state)
{
    (void)state;
    for (int i = 0; i < TIMES; i++) {
        uint64_t op = (uint64_t)random_between(1, MANY), tiles = (uint64_t)random_between(0, MANY);
        bool before = random_between(0, 1);

        assert_true(tiles_acknowledged(op, tiles_all) >= tiles_acknowledged(op, tiles) &&
                    tiles_acknowledged(op, tiles_all) < tiles_acknowledged(op + 1, 0));
        assert_true(tiles_full(op, tiles, true) < tiles_full(op, tiles + 1, false) &&
                    tiles_full(op, tiles, true) < tiles_full(op + 1, 0, false));
        assert_int_equal(tiles_had(tiles_full(op, tiles, before), op), tiles != 0);
        assert_int_equal(tiles_had(tiles_full(op + 1, tiles, before), op), before);
        assert_false(tiles_had(tiles_full(op + 2, tiles, before), op));
    }
}

/* Verifies that headers in flight have distinct places, within an operation and between the last
 * headers of an operation and the first of the next. Across operations this is promised for the
 * first TILES_HEADERS headers of each. */
static void headers_in_flight_have_distinct_places(void **state)
{
    (void)state;
    for (uint64_t op = 1; op < 5; op++)
        for (uint64_t tile = 0; tile < (uint64_t)3 * TILES_AHEAD; tile++) {
            assert_in_range(tiles_place(op, tile), 0, TILES_AHEAD - 1);
            for (uint64_t ahead = 1; ahead < TILES_AHEAD; ahead++)
                assert_int_not_equal(tiles_place(op, tile), tiles_place(op, tile + ahead));
            for (uint64_t next = 0; tile < TILES_HEADERS && next < TILES_HEADERS; next++)
                assert_int_not_equal(tiles_place(op, tile), tiles_place(op + 1, next));
        }
    for (int i = 0; i < TIMES; i++) {
        size_t begin = (size_t)random_between(0, 1 << 23) * TILES_LINE,
               bytes = (size_t)random_between(0, MANY / 2 - 1);
        bool small = random_between(0, 1), more = random_between(0, 1);
        uint64_t notice = tiles_header(begin, bytes, small, more);

        assert_true(tiles_header_begin(notice) == begin && tiles_header_bytes(notice) == bytes);
        assert_true(((notice & TILES_SMALL) != 0) == small && ((notice & TILES_MORE) != 0) == more);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_are_whole_lines_that_fit),
        cmocka_unit_test(runs_do_not_cross_the_end),
        cmocka_unit_test(short_blocks_reach_a_few_pages),
        cmocka_unit_test(counts_grow_and_identify_the_operation),
        cmocka_unit_test(headers_in_flight_have_distinct_places),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
