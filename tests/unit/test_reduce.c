/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_reduce.c - reductions over spans of real memory: shared memory, a view, or a packed view
 * that returns any number of bytes; with a second result, with the result in the place of a source,
 * with element sizes that do not divide a piece, as last reader and otherwise. The operation is not
 * associative, so a wrong order is detected.
 */
#include "mem/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { MAX_BYTES = 3 * MEM_PIECE + 200, SOURCES = 5, GUARD = 64 };

/* The slice of another rank, which contains the sources, and this rank's slice. */
static struct slice {
    struct lines_member lines;
    unsigned char memory[SOURCES][MAX_BYTES];
} other, own;

static unsigned char before[SOURCES][MAX_BYTES], want[MAX_BYTES], result[MAX_BYTES + GUARD],
    second[MAX_BYTES + GUARD];

/* Computes a op b = 3 a + b for each byte. */
static void thrice(const struct hud_op *op, void *dst, const void *const *src, int sources,
                   size_t elements)
{
    for (size_t i = 0; i < elements * op->element_bytes; i++) {
        unsigned char a = ((const unsigned char *)src[0])[i];
        for (int s = 1; s < sources; s++)
            a = (unsigned char)(3 * a + ((const unsigned char *)src[s])[i]);
        ((unsigned char *)dst)[i] = a;
    }
}

/* Packs a view's bytes in reverse order, a third of the bytes asked for, from any byte on. */
static size_t pack(const struct hud_view *view, void *dst, size_t offset_bytes, size_t max_bytes)
{
    size_t taken = (max_bytes + 2) / 3;

    for (size_t i = 0; i < taken; i++)
        ((unsigned char *)dst)[i] =
            ((const unsigned char *)view->base)[view->bytes - 1 - offset_bytes - i];
    return taken;
}

static void unpack(const struct hud_view *view, const void *src, size_t offset_bytes, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        ((unsigned char *)view->base)[view->bytes - 1 - offset_bytes - i] =
            ((const unsigned char *)src)[i];
}

static void reverse(unsigned char *at, size_t bytes)
{
    for (size_t i = 0; i < bytes / 2; i++) {
        unsigned char swap = at[i];
        at[i] = at[bytes - 1 - i];
        at[bytes - 1 - i] = swap;
    }
}

enum kind { SHARED, VIEW, PACKED, KINDS };

/* Makes a span of the bytes at `at` without the first `skip`, of one of three kinds. A packed view
 * has the bytes in reverse order. */
static struct mem_span span_of(enum kind kind, unsigned char *at, size_t bytes, size_t skip,
                               struct hud_view *view)
{
    *view = (struct hud_view){ .base = at, .bytes = bytes };
    if (kind == SHARED)
        return (struct mem_span){ .shared = at + skip };
    if (kind == PACKED) {
        view->pack = pack;
        view->unpack = unpack;
    }
    return (struct mem_span){ .view = view, .offset_bytes = skip };
}

struct trial {
    struct hud_op op;
    int count, packed_source, place; /* place: the source whose place the result takes, or -1 */
    enum kind to, also;              /* KINDS means none */
    size_t bytes, skip;
};

static void expect(const struct trial *t, const char *what, unsigned char *at, enum kind kind)
{
    if (kind == PACKED)
        reverse(at, t->bytes);
    if (memcmp(at + t->skip, want + t->skip, t->bytes - t->skip) != 0)
        fail_msg("%s is wrong: %zu bytes from byte %zu on, elements of %zu, %d sources, packed %d, "
                 "in the place of "
                 "%d, to %d, also %d",
                 what, t->bytes, t->skip, t->op.element_bytes, t->count, t->packed_source, t->place,
                 (int)t->to, (int)t->also);
    for (size_t i = 0; i < GUARD; i++)
        assert_int_equal(at[t->bytes + i], 7);
}

/* Reduces, in every second call as the last reader. The lines of the other rank are returned if
 * its lines request this. They must keep their values. */
static void reduce(const struct trial *t, const struct mem_span *to, const struct mem_span *also,
                   const struct mem_span *from)
{
    static unsigned calls;
    static struct lines_cell cell[LINES_CELLS];
    static char *const slices[] = { (char *)&own, (char *)&other };
    const struct mem_policy policy = { .polls = 1, .ways = 1 };
    struct mem_team team = { .cell = cell, .slice_bytes = sizeof(struct slice) };
    struct mem m = { .size = 2, .slices = slices, .policy = &policy, .team = &team };

    calls++;
    for (int i = 0; i < LINES_CELLS; i++)
        atomic_store(&other.lines.way[i], calls / 2 % LINES_WAYS);
    memcpy(before, other.memory, sizeof before);
    mem_reduce_as(&m, &t->op, to, also, from, t->count, t->bytes - t->skip, calls % 2);
    if (memcmp(before, other.memory, sizeof before) != 0)
        fail_msg("a source has changed");
}

static void run(const struct trial *t)
{
    unsigned char(*memory)[MAX_BYTES] = other.memory;
    struct hud_view views[SOURCES + 2];
    struct mem_span from[SOURCES], to, also;
    const void *plain[SOURCES];

    memset(result, 7, sizeof result);
    memset(second, 7, sizeof second);
    for (int s = 0; s < t->count; s++) {
        for (size_t i = 0; i < t->bytes; i++)
            memory[s][i] = (unsigned char)(i * 31 + (i >> 8) + (size_t)s * 77);
        plain[s] = memory[s];
    }
    thrice(&t->op, want, plain, t->count, t->bytes / t->op.element_bytes);
    for (int s = 0; s < t->count; s++)
        from[s] = span_of(s == t->packed_source ? PACKED
                          : s % 2               ? VIEW
                                                : SHARED,
                          memory[s], t->bytes, t->skip, &views[s]);
    if (t->packed_source >= 0)
        reverse(memory[t->packed_source], t->bytes);
    to = span_of(t->to, result, t->bytes, t->skip, &views[SOURCES]);
    if (t->place >= 0) {
        memcpy(result, memory[t->place], t->bytes);
        from[t->place] = to;
    }
    also = span_of(t->also, second, t->bytes, t->skip, &views[SOURCES + 1]);
    reduce(t, &to, t->also == KINDS ? NULL : &also, from);
    expect(t, "the result", result, t->to);
    if (t->also != KINDS)
        expect(t, "the second result", second, t->also);
}

static void each_place(struct trial *t)
{
    for (t->packed_source = -1; t->packed_source < t->count; t->packed_source += 2)
        for (int to = 0; to < KINDS; to++)
            for (int also = 0; also <= KINDS; also++) {
                if (to == PACKED && also == PACKED)
                    continue; /* at most one packed view is written */
                t->to = (enum kind)to;
                t->also = (enum kind)also;
                t->place = -1;
                run(t);
                t->place = t->count - 1;
                if (to != PACKED && t->place != t->packed_source)
                    run(t);
            }
}

static void reductions_of_all_kinds_of_spans_are_right(void **state)
{
    static const size_t elements[] = { 1, 8, 12, 100, 4095, 4096 };

    (void)state;
    for (size_t e = 0; e < sizeof elements / sizeof elements[0]; e++)
        for (int count = 1; count <= SOURCES; count++)
            for (size_t max = 1; max <= MAX_BYTES; max = max * 7 + 1) {
                size_t one = elements[e], number = max < MAX_BYTES / one ? max : MAX_BYTES / one;
                struct trial t = { .op = { .element_bytes = one, .combine = thrice },
                                   .count = count,
                                   .bytes = number * one };
                each_place(&t);
                t.skip = number / 2 * one;
                each_place(&t);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(
        reductions_of_all_kinds_of_spans_are_right) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
