/* SPDX-License-Identifier: BSD-3-Clause */
/* data.c - see data.h. */
#include "data.h"

#include <string.h>

/* Returns word i of a stamp's data.  Its lowest byte, first in memory, differs between any two of
 * 256 consecutive stamps. */
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

/* ---- huddle's collectives, by their descriptors ---- */

static size_t block(const void *host, int from, int to)
{
    const struct shots_call *c = host;

    (void)from;
    return coll_has(c->kind, COLL_COUNTS) ? data_block(c, to) * sizeof(double) : c->bytes;
}

static struct coll_args args_of(const struct shots_call *c)
{
    return (struct coll_args){
        .bytes = data_bytes(c), .ranks = c->ranks, .root = c->root, .block = block, .host = c
    };
}

struct coll_piece data_piece(const struct shots_call *c, int from, int to)
{
    const struct coll_args args = args_of(c);

    return hud_coll_piece(c->kind, &args, from, to);
}

size_t data_sent(const struct shots_call *c)
{
    const struct coll_args args = args_of(c);

    return hud_coll_in_bytes(c->kind, &args, c->rank);
}

size_t data_received(const struct shots_call *c)
{
    const struct coll_args args = args_of(c);

    return hud_coll_out_bytes(c->kind, &args, c->rank);
}

static double number_of(uint64_t stamp, size_t i)
{
    return (double)((stamp * 0x9E37u + i) & 0xFFFFF);
}

static void fill_numbers(const struct shots_call *c)
{
    double *numbers = c->in;
    int64_t *integers = c->in;

    for (size_t i = 0; i < data_elements(c); i++)
        if (c->integers)
            integers[i] = (int64_t)number_of(c->stamp, i) + c->rank;
        else
            numbers[i] = number_of(c->stamp, i) + c->rank;
}

/* Returns the wrong bytes among sums over ranks 0 to ranks - 1. */
static long wrong_sums(const struct shots_call *c, int ranks, size_t first, size_t count)
{
    const double *sums = c->out;
    const int64_t *integers = c->out;
    double of_ranks = ranks * (ranks - 1) / 2.0;
    long bad = 0;

    for (size_t i = 0; i < count; i++)
        bad += (c->integers ? (double)integers[i] : sums[i]) !=
               ranks * number_of(c->stamp, first + i) + of_ranks;
    return bad * (long)sizeof *sums;
}

/* Returns the stamp of the data that a rank sends to another rank, or to all. */
static uint64_t stamp_of(const struct shots_call *c, int from, int to)
{
    bool same = coll_has(c->kind, COLL_SAME_TO_ALL);

    return (c->stamp * 1021 + (uint64_t)from) * 1021 + (same ? 0 : (uint64_t)to);
}

void data_fill(const struct shots_call *c)
{
    char *in = coll_has(c->kind, COLL_ONE_BUFFER) ? c->out : c->in;

    if (!data_moves(c->kind))
        return;
    if (coll_has(c->kind, COLL_REDUCES)) {
        fill_numbers(c);
        return;
    }
    for (int to = 0; to < (coll_has(c->kind, COLL_SAME_TO_ALL) ? 1 : c->ranks); to++) {
        struct coll_piece piece = data_piece(c, c->rank, to);
        fill(stamp_of(c, c->rank, to), in + piece.in_at, piece.bytes);
    }
}

static long wrong_any(const struct shots_call *c)
{
    const struct coll_args args = args_of(c);
    struct coll_piece own = data_piece(c, 0, c->rank);
    long count = 0;

    if (coll_has(c->kind, COLL_REDUCES))
        return wrong_sums(c, hud_coll_sources(c->kind, &args, c->rank), own.in_at / sizeof(double),
                          own.bytes / sizeof(double));
    for (int from = 0; from < c->ranks; from++) {
        struct coll_piece piece = data_piece(c, from, c->rank);
        count +=
            wrong(stamp_of(c, from, c->rank), (const char *)c->out + piece.out_at, piece.bytes);
    }
    return count;
}

void data_colls(int (*call)(const struct shots_call *c),
                void (*prepare)(const struct shots_call *c), struct shots_coll rows[COLL_KINDS + 1])
{
    for (int kind = 0; kind < COLL_KINDS; kind++) {
        bool blocks = coll_has(kind, COLL_BLOCKS), moves = data_moves(kind);
        rows[kind] = (struct shots_coll){ .name = coll_name(kind),
                                          .moves = blocks  ? SHOTS_PER_PAIR
                                                   : moves ? SHOTS_MESSAGE
                                                           : SHOTS_NO_BYTES,
                                          .call = call,
                                          .fill = prepare,
                                          .wrong = moves ? wrong_any : NULL,
                                          .kind = kind };
    }
    rows[COLL_KINDS] = (struct shots_coll){ .name = NULL };
}
