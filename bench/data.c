/* SPDX-License-Identifier: BSD-3-Clause */
/* data.c - see data.h. */
#include "data.h"

#include <string.h>

/* In memory, the lowest byte of a word differs between any two of 256 consecutive stamps. */
static uint64_t word_of(uint64_t stamp, size_t i)
{
    return stamp * 0x9E3779B97F4A7C15u + i * 0xD1342543DE82EF95u;
}

static void fill(uint64_t stamp, void *to, size_t bytes)
{
    uint64_t *words = to, last = word_of(stamp, bytes / 8);

    for (size_t i = 0; i < bytes / 8; i++)
        words[i] = word_of(stamp, i);
    memcpy(words + bytes / 8, &last, bytes % 8);
}

static long differing(const void *a, const void *b, size_t bytes)
{
    const char *x = a, *y = b;
    long count = 0;

    for (size_t i = 0; i < bytes; i++)
        count += x[i] != y[i];
    return count;
}

static long wrong(uint64_t stamp, const void *got, size_t bytes)
{
    const uint64_t *words = got;
    uint64_t last = word_of(stamp, bytes / 8);
    long count = differing(words + bytes / 8, &last, bytes % 8);

    for (size_t i = 0; i < bytes / 8; i++)
        if (__builtin_expect(words[i] != word_of(stamp, i), 0)) {
            uint64_t word = word_of(stamp, i);
            count += differing(&words[i], &word, 8);
        }
    return count;
}

void data_fill_root(const struct shots_call *c)
{
    if (c->rank == c->root)
        fill(c->stamp, c->out, c->bytes);
}

long data_wrong_message(const struct shots_call *c)
{
    return wrong(c->stamp, c->out, c->bytes);
}

/* ---- reductions ---- */

static double number_of(uint64_t stamp, size_t i)
{
    return (double)((stamp * 0x9E37u + i) & 0xFFFFF);
}

void data_fill_numbers(const struct shots_call *c)
{
    double *numbers = c->in;

    for (size_t i = 0; i < data_elements(c); i++)
        numbers[i] = number_of(c->stamp, i) + c->rank;
}

static long wrong_sums(const struct shots_call *c, size_t first, size_t count)
{
    const double *sums = c->out;
    long bad = 0;

    for (size_t i = 0; i < count; i++)
        bad += sums[i] != c->ranks * number_of(c->stamp, first + i) + c->ranks * (c->ranks - 1) / 2;
    return bad * (long)sizeof *sums;
}

long data_wrong_sums(const struct shots_call *c)
{
    return wrong_sums(c, 0, data_elements(c));
}

long data_wrong_sums_at_root(const struct shots_call *c)
{
    return c->rank == c->root ? data_wrong_sums(c) : 0;
}

long data_wrong_block(const struct shots_call *c)
{
    return wrong_sums(c, data_before(c, c->rank), data_block(c, c->rank));
}

/* ---- exchanges ---- */

static uint64_t stamp_of(const struct shots_call *c, int from, int to)
{
    return (c->stamp * 1021 + (uint64_t)from) * 1021 + (uint64_t)to;
}

void data_fill_blocks(const struct shots_call *c)
{
    for (int r = 0; r < c->ranks; r++)
        fill(stamp_of(c, c->rank, r), (char *)c->in + (size_t)r * c->bytes, c->bytes);
}

long data_wrong_blocks(const struct shots_call *c)
{
    long count = 0;

    for (int r = 0; r < c->ranks; r++)
        count +=
            wrong(stamp_of(c, r, c->rank), (const char *)c->out + (size_t)r * c->bytes, c->bytes);
    return count;
}
