/* SPDX-License-Identifier: BSD-3-Clause */
/* test_copy.c - the copy with non-temporal stores: every length and alignment around its blocks,
 * and no byte outside the target changes; copies between spans of all kinds. */
#include "mem/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 400, PLACES = 65, BYTES = MOST + 2 * PLACES };

static void every_length_and_place(void **state)
{
    static unsigned char from[BYTES], to[BYTES], want[BYTES];

    (void)state;
    for (size_t i = 0; i < BYTES; i++)
        from[i] = (unsigned char)(i * 37 + 1);
    for (size_t bytes = 0; bytes <= MOST; bytes += bytes < 140 ? 1 : 13)
        for (size_t a = 0; a < PLACES; a += 3)
            for (size_t b = 0; b < PLACES; b++) {
                memset(to, 0, sizeof to);
                memset(want, 0, sizeof want);
                memcpy(want + b, from + a, bytes);
                hud_mem_stream(to + b, from + a, bytes);
                assert_memory_equal(to, want, sizeof to);
            }
}

/* Where a policy asks for it a view is filled by that copy, and cut at its end as by any other. */
static void a_view_is_filled_by_it(void **state)
{
    static unsigned char from[4096], to[4096];
    const struct mem_policy policy = { .stream_bytes = 1000 };
    struct mem m = { .policy = &policy };
    struct hud_view view = { .base = to, .bytes = 1000 };

    (void)state;
    for (size_t i = 0; i < sizeof from; i++)
        from[i] = (unsigned char)(i + 1);
    mem_out(&m, &view, from, 0, 300);
    mem_out(&m, &view, from + 300, 300, 800);
    assert_memory_equal(to, from, 1000);
    assert_int_equal(to[1000], 0);
    assert_true(m.truncated);
}

/* The copy of a last reader, across its blocks of a kilobyte. */
static void a_last_reader_copies_all(void **state)
{
    enum { SIZE = 4096 };
    static unsigned char from[SIZE], to[SIZE + 2], want[SIZE + 2];
    static const size_t lengths[] = { 0, 1, 63, 64, 1023, 1024, 1025, 2047, 2049, 3000, SIZE - 3 };

    (void)state;
    for (size_t i = 0; i < SIZE; i++)
        from[i] = (unsigned char)(i * 37 + i / 256 + 1);
    for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++)
        for (size_t a = 0; a < 3; a++) {
            memset(to, 0, sizeof to);
            memset(want, 0, sizeof want);
            memcpy(want + 1, from + a, lengths[l]);
            hud_mem_take(to + 1, from + a, lengths[l]);
            assert_memory_equal(to, want, sizeof to);
        }
}

/* Long copies in, the first of which try both kinds of stores: every byte, and no byte outside. */
static void long_copies_in_are_whole(void **state)
{
    enum { SIZE = 3 * MEM_PACE_MIN };
    static unsigned char from[SIZE], to[SIZE + 2 * PLACES], want[SIZE + 2 * PLACES];
    const struct mem_policy policy = { .paces = true };
    struct mem_team team = { .peers = NULL };
    struct mem m = { .policy = &policy, .team = &team };
    struct hud_view view = { .base = from, .bytes = SIZE };

    (void)state;
    for (size_t i = 0; i < SIZE; i++)
        from[i] = (unsigned char)(i * 41 + 3);
    for (int far = 0; far < 2; far++)
        for (size_t k = 0; k < 200; k++) {
            size_t at = k * 7 % 500, bytes = MEM_PACE_MIN + k * 31, place = k % PLACES;
            team.pace.far = far != 0;
            memset(to, 0, sizeof to);
            memset(want, 0, sizeof want);
            memcpy(want + place, from + at, bytes);
            assert_int_equal(mem_in(&m, to + place, &view, at, bytes), bytes);
            assert_memory_equal(to, want, sizeof to);
        }
    assert_int_equal(team.pace.copies, 400);
}

/* Non-temporal stores are used where they are much faster, and longer than they would be begun; one
 * copy that was interrupted changes nothing. */
static void the_faster_stores_are_used(void **state)
{
    struct mem_pace pace = { .copies = 0 };

    (void)state;
    hud_pace_learn(&pace, false, 1000, 1024);
    assert_false(pace.far);
    hud_pace_learn(&pace, true, 300, 1024); /* 3.3 times */
    assert_false(pace.far);
    hud_pace_learn(&pace, true, 200, 1024);
    assert_true(pace.far);
    hud_pace_learn(&pace, false, 700, 1024); /* 3.5 times */
    assert_true(pace.far);
    hud_pace_learn(&pace, true, 1000000, 1024);
    assert_true(pace.far);
    hud_pace_learn(&pace, false, 500, 1024);
    assert_false(pace.far);
    hud_pace_learn(&pace, false, 1000000, 1024);
    assert_false(pace.far);
}

/* A packed view that holds its bytes inverted, and takes fewer than it is asked for. */
static size_t pack(const struct hud_view *view, void *dst, size_t offset_bytes, size_t max_bytes)
{
    size_t taken = (max_bytes + 1) / 2;

    for (size_t i = 0; i < taken; i++)
        ((unsigned char *)dst)[i] =
            (unsigned char)~((const unsigned char *)view->base)[offset_bytes + i];
    return taken;
}

static void unpack(const struct hud_view *view, const void *src, size_t offset_bytes, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        ((unsigned char *)view->base)[offset_bytes + i] =
            (unsigned char)~((const unsigned char *)src)[i];
}

/* Of shared memory, a view, a packed view: each to each. */
static void spans_move(void **state)
{
    enum { LONG = 20000, FROM = 7, TO = 5, KINDS = 3 };
    static unsigned char from[LONG], to[LONG];
    const struct mem_policy policy = { .move_bytes = 4000 };
    struct mem m = { .policy = &policy };

    (void)state;
    for (size_t i = 0; i < LONG; i++)
        from[i] = (unsigned char)(i * 37 + i / 256);
    for (int kind = 0; kind < KINDS * KINDS; kind++)
        for (size_t bytes = 0; bytes <= LONG - 10; bytes = bytes * 5 + 3) {
            size_t beyond = kind / KINDS != 0 ? bytes / 7 : 0;
            bool packs = kind % KINDS == 2, unpacks = kind / KINDS == 2;
            struct hud_view source = { .base = from, .bytes = LONG, .pack = packs ? pack : NULL },
                            sink = { .base = to,
                                     .bytes = TO + bytes - beyond,
                                     .unpack = unpacks ? unpack : NULL };
            struct mem_span a = { .shared = kind % KINDS == 0 ? from + FROM : NULL,
                                  .view = &source,
                                  .offset_bytes = FROM },
                            b = { .shared = kind / KINDS == 0 ? to + TO : NULL,
                                  .view = &sink,
                                  .offset_bytes = TO };
            memset(to, 0, sizeof to);
            m.truncated = false;
            mem_move(&m, &b, &a, bytes);
            assert_int_equal(m.truncated, beyond != 0);
            for (size_t i = 0; i < LONG; i++)
                assert_int_equal(to[i], i < TO || i >= TO + bytes - beyond
                                            ? 0
                                            : (unsigned char)(from[i - TO + FROM] ^
                                                              (packs != unpacks ? 0xFF : 0)));
        }
}

/* A view of no bytes has no address. */
static void nothing_moves(void **state)
{
    unsigned char byte = 7;
    const struct mem_policy policy = { .move_bytes = 0 };
    const struct hud_view none = { .bytes = 0 }, one = { .base = &byte, .bytes = 1 };
    const struct mem_span to = { .view = &none }, from = { .view = &one };
    struct mem m = { .policy = &policy };

    (void)state;
    mem_move(&m, &to, &from, 0);
    assert_false(m.truncated);
    mem_move(&m, &to, &from, 1);
    assert_true(m.truncated);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(every_length_and_place),
                                        cmocka_unit_test(a_view_is_filled_by_it),
                                        cmocka_unit_test(a_last_reader_copies_all),
                                        cmocka_unit_test(long_copies_in_are_whole),
                                        cmocka_unit_test(the_faster_stores_are_used),
                                        cmocka_unit_test(spans_move),
                                        cmocka_unit_test(nothing_moves) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
