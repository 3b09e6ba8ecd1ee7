/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * allgather.c - allgather and allgatherv by kernel copies, `single` and `push`: exchange.h, with
 * the same block of a rank for every other rank.
 *
 * An in-place call needs no bounce buffer, because a rank does not receive into the block that it
 * sends.
 */
#include "alg/single_copy/exchange.h"

/* ---- allgather ---- */

/* Returns the block that this rank sends.  The call's root is this rank: in place, its block is in
 * `in` at its own offset. */
static struct block block_sent(const struct coll *c, int rank)
{
    (void)rank;
    return (struct block){ block_at(c->in, c->bytes, coll_in_place(c) ? c->root : 0), c->bytes };
}

static struct block block_got(const struct coll *c, int rank)
{
    return (struct block){ block_at(c->out, c->bytes, rank), c->bytes };
}

ALG_INLINE void allgather_blocks(struct mem *m, struct coll own, bool push)
{
    own.root = mem_rank(m);
    exchange_blocks(m, &own, push, block_sent, block_got);
}

static void allgather_single(struct mem *m, const struct coll *c)
{
    allgather_blocks(m, *c, false);
}

static void allgather_push(struct mem *m, const struct coll *c)
{
    allgather_blocks(m, *c, true);
}

ALG_DEFINE(allgather, single) = {
    EXCHANGE_ALG(allgather, single, "every rank reads the other ranks' blocks from their buffers"),
};

ALG_DEFINE(allgather, push) = {
    EXCHANGE_ALG(allgather, push, "every rank writes its block into the other ranks' buffers"),
};

/* ---- allgatherv ---- */

static struct block view_sent(const struct coll *c, int rank)
{
    (void)rank;
    return (struct block){ { .view = c->in }, c->in->bytes };
}

static struct block view_got(const struct coll *c, int rank)
{
    return (struct block){ { .view = &c->out[rank] }, c->out[rank].bytes };
}

static void allgatherv_single(struct mem *m, const struct coll *c)
{
    exchange_blocks(m, c, false, view_sent, view_got);
}

static void allgatherv_push(struct mem *m, const struct coll *c)
{
    exchange_blocks(m, c, true, view_sent, view_got);
}

ALG_DEFINE(allgatherv, single) = {
    EXCHANGE_ALG(allgatherv, single, "every rank reads the other ranks' blocks from their buffers"),
};

ALG_DEFINE(allgatherv, push) = {
    EXCHANGE_ALG(allgatherv, push, "every rank writes its block into the other ranks' buffers"),
};
