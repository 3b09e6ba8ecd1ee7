/* SPDX-License-Identifier: BSD-3-Clause */
/* calls.c - a row per collective: what a rank sends, what it must have, in packed bytes. */
#include "calls.h"

#include "sim/grow.h"

#include <string.h>

typedef unsigned char byte;

static uint64_t mix(uint64_t x)
{
    x ^= x >> 31;
    x *= 0x9E3779B97F4A7C15u;
    return x ^ x >> 29;
}

/* Bytes of a stream, from `at` on; 0..127: never what an empty buffer holds. */
static void stream(uint64_t id, uint64_t from, uint64_t to, size_t bytes, byte *out)
{
    uint64_t x = mix(id * 1000003 + from * 1009 + to + 1);

    for (size_t i = 0; i < bytes; i++) {
        if (i % 8 == 0)
            x = mix(x + 0x632BE59BD9B4E019u);
        out[i] = (byte)(x >> i % 8 * 8 & 0x7F);
    }
}

/* ---- the operation ---- */

static void combine(const struct hud_op *op, void *dst, const void *const *src, int sources,
                    size_t elements)
{
    unsigned factor = op->commutative ? 1 : 31;
    size_t bytes = elements * op->element_bytes;
    byte *sum = hud_must(malloc(bytes + 1));

    memcpy(sum, src[0], bytes);
    for (int s = 1; s < sources; s++)
        for (size_t at = 0; at < bytes; at += op->element_bytes)
            for (size_t i = 0, carry = 0; i < op->element_bytes; i++) {
                carry += sum[at + i] * factor + ((const byte *)src[s])[at + i];
                sum[at + i] = (byte)carry;
                carry >>= 8;
            }
    memcpy(dst, sum, bytes);
    free(sum);
}

static struct hud_op operation(const struct call *call)
{
    return (struct hud_op){ .element_bytes = call->element,
                            .commutative = !call->alg->ordered,
                            .combine = combine,
                            .name = "test" };
}

/* ---- blocks ---- */

/* Of the result of a reduce_scatter: equal as far as they can be, or any. */
static size_t block_of(const struct call *call, int rank)
{
    size_t elements = call->bytes / call->element, ranks = (size_t)call->ranks, r = (size_t)rank,
           left = elements;

    if (mix(call->id) % 2 == 0)
        return (elements * (r + 1) / ranks - elements * r / ranks) * call->element;
    for (size_t i = 0; i < ranks; i++) {
        size_t take = i + 1 == ranks                   ? left
                      : mix(call->id * 7 + i) % 3 == 0 ? 0
                                                       : left * (mix(call->id * 5 + i) % 8) / 8;
        if (i == r)
            return take * call->element;
        left -= take;
    }
    return 0;
}

static size_t blocks_before(const struct call *call, int rank)
{
    size_t sum = 0;

    for (int r = 0; r < rank; r++)
        sum += block_of(call, r);
    return sum;
}

/* Of an alltoallv, between two ranks. */
static size_t pair_of(const struct call *call, int from, int to)
{
    uint64_t x = mix(call->id * 77 + (uint64_t)from * 1013 + (uint64_t)to);

    if (strcmp(call->alg->coll, "alltoallv") != 0)
        return call->bytes;
    if (call->in_place && from > to) /* the same both ways */
        return pair_of(call, to, from);
    return x % 4 == 0 ? 0 : x % 4 == 1 ? call->bytes : x / 4 % (call->bytes + 1);
}

/* ---- rows ---- */

static size_t bytes_one(const struct call *call, int rank)
{
    return rank == call->shorter ? call->shorter_bytes : call->bytes;
}

static size_t bytes_at_root(const struct call *call, int rank)
{
    return rank == call->root ? call->bytes : 0;
}

static size_t bytes_block(const struct call *call, int rank)
{
    return block_of(call, rank);
}

static size_t bytes_from_all(const struct call *call, int rank)
{
    size_t sum = 0;

    for (int r = 0; r < call->ranks; r++)
        sum += pair_of(call, r, rank);
    return sum;
}

static size_t bytes_to_all(const struct call *call, int rank)
{
    size_t sum = 0;

    for (int r = 0; r < call->ranks; r++)
        sum += pair_of(call, rank, r);
    return sum;
}

static void send_message(const struct call *call, int rank, byte *to)
{
    (void)rank;
    stream(call->id, 0, 0, call->bytes, to);
}

static void send_own(const struct call *call, int rank, byte *to)
{
    stream(call->id, (uint64_t)rank, 0, call->bytes, to);
}

static void send_blocks(const struct call *call, int rank, byte *to)
{
    for (int r = 0; r < call->ranks; to += pair_of(call, rank, r), r++)
        stream(call->id, (uint64_t)rank, (uint64_t)r, pair_of(call, rank, r), to);
}

/* What the last call with the same data came to: all its ranks ask for it. */
static struct {
    struct call call;
    byte *sum;
} kept[8];

static bool same_data(const struct call *a, const struct call *b)
{
    return a->id == b->id && a->bytes == b->bytes && a->ranks == b->ranks &&
           a->element == b->element && a->alg->ordered == b->alg->ordered;
}

static const byte *sum_of(const struct call *call)
{
    size_t at = call->id % (sizeof kept / sizeof *kept);

    if (!kept[at].sum || !same_data(&kept[at].call, call)) {
        struct hud_op op = operation(call);
        byte *one = hud_must(malloc(call->bytes + 1));
        kept[at].call = *call;
        kept[at].sum = hud_must(realloc(kept[at].sum, call->bytes + 1));
        for (int r = 0; r < call->ranks; r++) {
            const void *both[] = { kept[at].sum, one };
            send_own(call, r, r == 0 ? kept[at].sum : one);
            if (r != 0)
                combine(&op, kept[at].sum, both, 2, call->bytes / call->element);
        }
        free(one);
    }
    return kept[at].sum;
}

static void want_sum(const struct call *call, int rank, byte *to)
{
    (void)rank;
    memcpy(to, sum_of(call), call->bytes);
}

static void want_block(const struct call *call, int rank, byte *to)
{
    memcpy(to, sum_of(call) + blocks_before(call, rank), block_of(call, rank));
}

static void want_blocks(const struct call *call, int rank, byte *to)
{
    for (int r = 0; r < call->ranks; to += pair_of(call, r, rank), r++)
        stream(call->id, (uint64_t)r, (uint64_t)rank, pair_of(call, r, rank), to);
}

static const struct row {
    const char *coll;
    bool reduces;
    size_t (*in_bytes)(const struct call *call, int rank);
    size_t (*out_bytes)(const struct call *call, int rank);
    void (*send)(const struct call *call, int rank, byte *to);
    void (*want)(const struct call *call, int rank, byte *to);
} rows[] = {
    { "bcast", false, bytes_one, bytes_one, send_message, send_message },
    { "reduce", true, bytes_one, bytes_at_root, send_own, want_sum },
    { "allreduce", true, bytes_one, bytes_one, send_own, want_sum },
    { "reduce_scatter", true, bytes_one, bytes_block, send_own, want_block },
    { "alltoall", false, bytes_to_all, bytes_from_all, send_blocks, want_blocks },
    { "alltoallv", false, bytes_to_all, bytes_from_all, send_blocks, want_blocks },
    { .coll = NULL },
};

static const struct row *row_of(const char *coll)
{
    const struct row *row = rows;

    while (row->coll && strcmp(row->coll, coll) != 0)
        row++;
    return row->coll ? row : NULL;
}

bool call_reduces(const char *coll)
{
    const struct row *row = row_of(coll);

    return row && row->reduces;
}

size_t call_view_bytes(const char *coll, size_t bytes, int ranks)
{
    return strncmp(coll, "alltoall", 8) == 0 ? bytes * (size_t)ranks : bytes;
}

/* ---- a rank ---- */

struct call_user *call_user_create(struct sim *s, int ranks, size_t max_bytes)
{
    struct call_user *u = hud_must(calloc(1, sizeof *u));

    u->in = user_buffer_create(s, max_bytes);
    u->out = user_buffer_create(s, max_bytes);
    u->parts = hud_must(calloc(2 * (size_t)ranks, sizeof *u->parts));
    u->views = hud_must(calloc(2 * (size_t)ranks, sizeof *u->views));
    u->block_bytes = hud_must(calloc((size_t)ranks, sizeof *u->block_bytes));
    return u;
}

void call_user_free(struct call_user *u)
{
    free(u->in);
    free(u->out);
    free(u->parts);
    free(u->views);
    free(u->block_bytes);
    free(u);
}

static void fill(const struct call *call, int rank, const struct row *row, struct user_buffer *b)
{
    byte *message = hud_must(malloc(b->view.bytes + 1));

    row->send(call, rank, message);
    user_buffer_fill(b, message);
    free(message);
}

static void prepare_bcast(const struct call *call, int rank, const struct row *row,
                          struct call_user *u, struct coll *c)
{
    if (rank == call->root)
        fill(call, rank, row, u->out);
    c->buf = u->out->view;
}

/* Views of the parts of both buffers, a pair of them for each rank. */
static void cut(const struct call *call, int rank, struct call_user *u, struct user_buffer *in,
                struct coll *c)
{
    size_t from = 0, to = 0;

    for (int r = 0; r < call->ranks; r++) {
        size_t sends = pair_of(call, rank, r), gets = pair_of(call, r, rank);
        u->views[r] = user_part_view(&u->parts[r], in, from, sends);
        u->views[call->ranks + r] = user_part_view(&u->parts[call->ranks + r], u->out, to, gets);
        from += sends;
        to += gets;
    }
    c->ins = u->views;
    c->outs = u->views + call->ranks;
}

static void prepare_other(const struct call *call, int rank, const struct row *row,
                          struct call_user *u, struct sim *s, struct coll *c)
{
    bool scatters = strcmp(call->alg->coll, "reduce_scatter") == 0,
         none = row->out_bytes(call, rank) == 0 && !scatters;
    struct user_buffer *in = call->in_place && !none ? u->out : u->in;

    user_buffer_reset(in, row->in_bytes(call, rank), hud_sim_random(s, 2) == 0);
    fill(call, rank, row, in);
    c->in = in->view;
    if (in == u->out) {
        c->out = in->view;
        c->out.bytes = row->out_bytes(call, rank);
    } else if (!none) {
        c->out = u->out->view;
    }
    if (row->reduces) {
        u->reduction = operation(call);
        c->reduction = &u->reduction;
    }
    for (int r = 0; scatters && r < call->ranks; r++)
        u->block_bytes[r] = block_of(call, r);
    c->block_bytes = u->block_bytes;
    if (strcmp(call->alg->coll, "alltoallv") == 0) {
        cut(call, rank, u, in, c);
        c->in = c->out = (struct hud_view){ .base = NULL };
    }
}

void call_prepare(const struct call *call, int rank, struct call_user *u, struct sim *s,
                  struct coll *c)
{
    const struct row *row = row_of(call->alg->coll);

    c->bytes = strcmp(call->alg->coll, "alltoallv") == 0 ? 0 : call->bytes;
    if (!row)
        return; /* a barrier */
    user_buffer_reset(u->out, row->out_bytes(call, rank), hud_sim_random(s, 2) == 0);
    if (strcmp(row->coll, "bcast") == 0)
        prepare_bcast(call, rank, row, u, c);
    else
        prepare_other(call, rank, row, u, s, c);
}

void call_verify(const struct call *call, int rank, const struct call_user *u, struct sim *s,
                 int status)
{
    const struct row *row = row_of(call->alg->coll);
    size_t bytes = row ? row->out_bytes(call, rank) : 0;

    if (status != (call->shorter == rank ? HUD_ERR_TRUNCATE : HUD_OK))
        hud_sim_fail(s,
                     "wrong status: %d at rank %d after %s/%s, its view holds %zu of %zu bytes\n",
                     status, rank, call->alg->coll, call->alg->name, bytes, call->bytes);
    if (bytes == 0)
        return;
    byte *message = hud_must(malloc(call_view_bytes(row->coll, call->bytes, call->ranks) + 1));
    row->want(call, rank, message);
    size_t wrong = user_buffer_differs(u->out, message, bytes);
    free(message);
    if (wrong < bytes)
        hud_sim_fail(s,
                     "wrong result: byte %zu of %zu at rank %d after %s/%s, call %llu, root %d, "
                     "elements of %zu%s\n",
                     wrong, bytes, rank, call->alg->coll, call->alg->name,
                     (unsigned long long)call->id, call->root, call->element,
                     call->in_place ? ", in place" : "");
}
