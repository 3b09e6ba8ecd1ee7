/* SPDX-License-Identifier: BSD-3-Clause */
/* data.c - a row per collective: how much a rank sends and gets, and which bytes. */
#include "sim/run/data.h"

#include "sim/grow.h"

#include <string.h>

typedef unsigned char byte;

/* Byte i of a round without its rank, which adds 31 for each; and of a block for a rank, which adds
 * 17 for each. */
static byte common(size_t i, int round)
{
    return (byte)(7 * i + 3 * (i >> 8) + 5 * (size_t)round);
}

static byte own(size_t i, int round, int rank)
{
    return (byte)(common(i, round) + 31 * rank);
}

static byte summed(const struct request *q, size_t i, int round)
{
    return (byte)(q->ranks * common(i, round) + 31 * (q->ranks * (q->ranks - 1) / 2));
}

static size_t element_bytes(const struct request *q)
{
    size_t element = 8;

    while (q->bytes % element != 0)
        element /= 2;
    return element;
}

/* Bytes of the result of a reduce_scatter before a rank's block: blocks are as equal as they can
 * be. */
static size_t before(const struct request *q, int rank)
{
    size_t element = element_bytes(q);

    return q->bytes / element * (size_t)rank / (size_t)q->ranks * element;
}

static size_t bytes_none(const struct request *q, int rank)
{
    return (void)q, (void)rank, 0;
}

static size_t bytes_message(const struct request *q, int rank)
{
    return (void)rank, q->bytes;
}

static size_t bytes_at_root(const struct request *q, int rank)
{
    return rank == q->root ? q->bytes : 0;
}

static size_t bytes_block(const struct request *q, int rank)
{
    return before(q, rank + 1) - before(q, rank);
}

static size_t bytes_blocks(const struct request *q, int rank)
{
    return (void)rank, q->bytes * (size_t)q->ranks;
}

static byte send_own(const struct request *q, size_t i, int round, int rank)
{
    return (void)q, own(i, round, rank);
}

static byte send_block(const struct request *q, size_t i, int round, int rank)
{
    return (byte)(own(i % q->bytes, round, rank) + 17 * (int)(i / q->bytes));
}

static byte want_root(const struct request *q, size_t i, int round, int rank)
{
    return (void)rank, own(i, round, q->root);
}

static byte want_sum(const struct request *q, size_t i, int round, int rank)
{
    return (void)rank, summed(q, i, round);
}

static byte want_part(const struct request *q, size_t i, int round, int rank)
{
    return summed(q, before(q, rank) + i, round);
}

static byte want_block(const struct request *q, size_t i, int round, int rank)
{
    return (byte)(own(i % q->bytes, round, (int)(i / q->bytes)) + 17 * rank);
}

static const struct row {
    const char *coll;
    size_t (*in_bytes)(const struct request *q, int rank);
    size_t (*out_bytes)(const struct request *q, int rank);
    byte (*send)(const struct request *q, size_t i, int round, int rank);
    byte (*want)(const struct request *q, size_t i, int round, int rank);
} rows[] = {
    { "barrier", bytes_none, bytes_none, send_own, want_sum },
    { "bcast", bytes_at_root, bytes_message, send_own, want_root },
    { "reduce", bytes_message, bytes_at_root, send_own, want_sum },
    { "allreduce", bytes_message, bytes_message, send_own, want_sum },
    { "reduce_scatter", bytes_message, bytes_block, send_own, want_part },
    { "alltoall", bytes_blocks, bytes_blocks, send_block, want_block },
    { "alltoallv", bytes_blocks, bytes_blocks, send_block, want_block },
};

static const struct row *row_of(const struct request *q)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].coll, q->alg->coll) == 0)
            return &rows[i];
    return NULL;
}

bool data_known(const struct request *q)
{
    return row_of(q) != NULL;
}

double data_bytes(const struct request *q)
{
    return (double)row_of(q)->in_bytes(q, q->root) + (double)row_of(q)->out_bytes(q, q->root);
}

static void combine(const struct hud_op *op, void *dst, const void *const *src, int sources,
                    size_t elements)
{
    byte *to = dst;

    for (size_t i = 0; i < elements * op->element_bytes; i++) {
        byte sum = 0;
        for (int s = 0; s < sources; s++)
            sum = (byte)(sum + ((const byte *)src[s])[i]);
        to[i] = sum;
    }
}

/* A broadcast has one buffer, which the root fills. */
static bool has_one_buffer(const struct request *q)
{
    return strcmp(q->alg->coll, "bcast") == 0;
}

void data_create(const struct request *q, int rank, struct data *d)
{
    const struct row *row = row_of(q);

    *d = (struct data){ .in_bytes = row->in_bytes(q, rank), .out_bytes = row->out_bytes(q, rank) };
    d->out = hud_must(malloc(d->out_bytes + 1));
    d->in = has_one_buffer(q) ? d->out : hud_must(malloc(d->in_bytes + 1));
    d->op = (struct hud_op){
        .element_bytes = element_bytes(q), .commutative = 1, .combine = combine, .name = "sum"
    };
    if (strcmp(row->coll, "reduce_scatter") == 0) {
        d->block_bytes = hud_must(calloc((size_t)q->ranks, sizeof *d->block_bytes));
        for (int r = 0; r < q->ranks; r++)
            d->block_bytes[r] = bytes_block(q, r);
    }
    if (strcmp(row->coll, "alltoallv") == 0) {
        d->views = hud_must(calloc(2 * (size_t)q->ranks, sizeof *d->views));
        for (size_t r = 0; r < (size_t)q->ranks; r++) {
            d->views[r] = (struct hud_view){ .base = d->in + r * q->bytes, .bytes = q->bytes };
            d->views[(size_t)q->ranks + r] =
                (struct hud_view){ .base = d->out + r * q->bytes, .bytes = q->bytes };
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
    (void)rank;
    c->bytes = d->views ? 0 : q->bytes;
    c->block_bytes = d->block_bytes;
    c->reduction = &d->op;
    if (has_one_buffer(q)) {
        c->buf = (struct hud_view){ .base = d->out, .bytes = d->out_bytes };
    } else if (d->views) {
        c->ins = d->views;
        c->outs = d->views + q->ranks;
    } else if (d->in_bytes != 0) {
        c->in = (struct hud_view){ .base = d->in, .bytes = d->in_bytes };
        c->out = (struct hud_view){ .base = d->out_bytes ? d->out : NULL, .bytes = d->out_bytes };
    }
}

size_t data_fill(const struct request *q, int rank, int round, struct data *d)
{
    const struct row *row = row_of(q);

    for (size_t i = 0; i < d->in_bytes; i++)
        d->in[i] = row->send(q, i, round, rank);
    return d->in_bytes;
}

size_t data_wrong(const struct request *q, int rank, int round, const struct data *d)
{
    const struct row *row = row_of(q);
    size_t i = 0;

    while (i < d->out_bytes && d->out[i] == row->want(q, i, round, rank))
        i++;
    return i;
}
