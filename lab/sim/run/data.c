/* SPDX-License-Identifier: BSD-3-Clause */
/* data.c - how many and which bytes a rank sends and receives, by the collective's descriptor. */
#include "lab/sim/run/data.h"
#include "check/grow.h"
#include "coll/coll.h"

#include <stdlib.h>
#include <string.h>

typedef unsigned char byte;

enum { STRETCH = 256, STEP = 7 };

/* Returns byte i of a round without its rank, which adds 31 for each rank.  From a multiple of
 * STRETCH to the next, each byte is STEP more than its predecessor. */
static byte common(size_t i, int round)
{
    return (byte)(STEP * i + 3 * (i / STRETCH) + 11 * (i >> 16) + 5 * (size_t)round);
}

/* Returns how many of `bytes` bytes from byte i on are before the next multiple of STRETCH. */
static size_t stretch(size_t i, size_t bytes)
{
    size_t max = STRETCH - i % STRETCH;

    return bytes < max ? bytes : max;
}

static void ramp(byte *to, size_t bytes, byte first, byte step)
{
    for (size_t i = 0; i < bytes; i++, first = (byte)(first + step))
        to[i] = first;
}

/* Writes bytes i, i + 1, ... of a rank's own data. */
static void own(byte *to, size_t i, size_t bytes, int round, int rank)
{
    for (size_t some; bytes > 0; to += some, i += some, bytes -= some) {
        some = stretch(i, bytes);
        ramp(to, some, (byte)(common(i, round) + 31 * rank), STEP);
    }
}

/* Writes bytes of the sum over ranks 0..ranks - 1, all in the same stretch. */
static void summed(byte *to, size_t i, size_t bytes, int round, int ranks)
{
    ramp(to, bytes, (byte)(ranks * common(i, round) + 31 * (ranks * (ranks - 1) / 2)),
         (byte)(ranks * STEP));
}

static size_t element_bytes(const struct request *q)
{
    size_t element = 8;

    while (q->bytes % element != 0)
        element /= 2;
    return element;
}

/* Returns the bytes before a rank's block of a result that is divided among the ranks.  Blocks are
 * as equal as possible. */
static size_t before(const struct request *q, int rank)
{
    size_t element = element_bytes(q);

    return q->bytes / element * (size_t)rank / (size_t)q->ranks * element;
}

static bool has(const struct request *q, unsigned flags)
{
    return coll_has(q->kind, flags);
}

static size_t block(const void *host, int from, int to)
{
    const struct request *q = host;

    (void)from;
    return has(q, COLL_COUNTS) ? before(q, to + 1) - before(q, to) : q->bytes;
}

static struct coll_args args_of(const struct request *q)
{
    return (struct coll_args){
        .bytes = q->bytes, .ranks = q->ranks, .root = q->root, .block = block, .host = q
    };
}

double data_bytes(const struct request *q)
{
    const struct coll_args args = args_of(q);

    return (double)hud_coll_in_bytes(q->kind, &args, q->root) +
           (double)hud_coll_out_bytes(q->kind, &args, q->root);
}

static void combine(const struct hud_op *op, void *dst, const void *const *src, int sources,
                    size_t elements)
{
    byte sum[STRETCH]; /* dst may also be a source */
    size_t bytes = elements * op->element_bytes, some;

    for (size_t i = 0; i < bytes; i += some) {
        some = stretch(i, bytes - i);
        memset(sum, 0, some);
        for (int s = 0; s < sources; s++)
            for (size_t k = 0; k < some; k++)
                sum[k] = (byte)(sum[k] + ((const byte *)src[s])[i + k]);
        memcpy((byte *)dst + i, sum, some);
    }
}

void data_create(const struct request *q, int rank, struct data *d)
{
    const struct coll_args args = args_of(q);
    size_t ranks = (size_t)q->ranks;

    *d = (struct data){ .in_bytes = hud_coll_in_bytes(q->kind, &args, rank),
                        .out_bytes = hud_coll_out_bytes(q->kind, &args, rank) };
    d->out = hud_must(malloc(d->out_bytes + 1));
    if (q->root_shift)
        d->in_bytes = q->bytes;
    d->in = has(q, COLL_ONE_BUFFER) && !q->root_shift ? d->out : hud_must(malloc(d->in_bytes + 1));
    d->op = (struct hud_op){
        .element_bytes = element_bytes(q), .commutative = 1, .combine = combine, .name = "sum"
    };
    if (has(q, COLL_COUNTS) && !has(q, COLL_VIEWS))
        d->block_bytes = hud_must(calloc(ranks, sizeof *d->block_bytes));
    if (has(q, COLL_VIEWS))
        d->views = hud_must(calloc(2 * ranks, sizeof *d->views));
    for (int r = 0; r < q->ranks; r++) {
        struct coll_piece to = hud_coll_piece(q->kind, &args, rank, r),
                          from = hud_coll_piece(q->kind, &args, r, rank);
        if (d->block_bytes)
            d->block_bytes[r] = to.bytes;
        if (d->views) {
            d->views[r] = (struct hud_view){ .base = d->in + to.in_at, .bytes = to.bytes };
            d->views[q->ranks + r] =
                (struct hud_view){ .base = d->out + from.out_at, .bytes = from.bytes };
        }
    }
}

void data_free(struct data *d)
{
    if (d->in != d->out)
        free(d->in);
    free(d->out);
    free(d->views);
    free(d->block_bytes);
}

void data_call(const struct request *q, int rank, struct data *d, struct coll *c)
{
    c->bytes = has(q, COLL_UNSIZED) ? 0 : q->bytes;
    c->block_bytes = d->block_bytes;
    c->reduction = &d->op;
    d->whole[0] = (struct hud_view){ .base = d->in, .bytes = d->in_bytes };
    d->whole[1] = (struct hud_view){ .base = d->out, .bytes = d->out_bytes };
    c->in = has(q, COLL_ONE_BUFFER) ? NULL : &d->whole[0];
    c->out = &d->whole[q->root_shift && rank == c->root ? 0 : 1];
    if (coll_in_each(q->kind, q->root, rank))
        c->in = d->views;
    if (coll_out_each(q->kind, q->root, rank))
        c->out = d->views + q->ranks;
}

size_t data_fill(const struct request *q, int rank, int round, struct data *d)
{
    own(d->in, 0, d->in_bytes, round, q->root_shift ? q->root : rank);
    return d->in_bytes;
}

/* Returns the first wrong byte of the data from a rank, or of a reduction's result if sources > 0.
 * Returns piece->bytes if all are right. */
static size_t piece_wrong(int from, int sources, int round, const struct data *d,
                          const struct coll_piece *piece)
{
    byte right[STRETCH];
    const byte *is = d->out + piece->out_at;
    size_t some;

    for (size_t i = 0; i < piece->bytes; i += some) {
        size_t at = piece->in_at + i;
        some = stretch(at, piece->bytes - i);
        if (sources > 0)
            summed(right, at, some, round, sources);
        else
            own(right, at, some, round, from);
        if (memcmp(is + i, right, some) == 0)
            continue;
        for (size_t k = 0;; k++)
            if (is[i + k] != right[k])
                return i + k;
    }
    return piece->bytes;
}

size_t data_wrong(const struct request *q, int rank, int round, const struct data *d)
{
    const struct coll_args args = args_of(q);
    bool reduces = has(q, COLL_REDUCES);
    int sources = reduces ? hud_coll_sources(q->kind, &args, rank) : 0;

    for (int from = 0; from < (reduces ? 1 : q->ranks); from++) {
        struct coll_piece piece = hud_coll_piece(q->kind, &args, from, rank);
        size_t right = piece_wrong(from, sources, round, d, &piece);
        if (right < piece.bytes)
            return piece.out_at + right;
    }
    return d->out_bytes;
}
