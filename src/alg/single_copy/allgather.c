/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * allgather.c - allgather and allgatherv by kernel copies, `cma_read` and `cma_write`: exchange.h,
 * with the same block of a rank for every other rank.
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

static void allgather_cma_read(struct mem *m, const struct coll *c)
{
    allgather_blocks(m, *c, false);
}

static void allgather_cma_write(struct mem *m, const struct coll *c)
{
    allgather_blocks(m, *c, true);
}

ALG_DEFINE(allgather, cma_read) = {
    EXCHANGE_ALG(allgather, cma_read,
                 "every rank reads the other ranks' blocks from their buffers"),
};

ALG_DEFINE(allgather, cma_write) = {
    EXCHANGE_ALG(allgather, cma_write, "every rank writes its block into the other ranks' buffers"),
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

static void allgatherv_cma_read(struct mem *m, const struct coll *c)
{
    exchange_blocks(m, c, false, view_sent, view_got);
}

static void allgatherv_cma_write(struct mem *m, const struct coll *c)
{
    exchange_blocks(m, c, true, view_sent, view_got);
}

ALG_DEFINE(allgatherv, cma_read) = {
    EXCHANGE_ALG(allgatherv, cma_read,
                 "every rank reads the other ranks' blocks from their buffers"),
};

ALG_DEFINE(allgatherv, cma_write) = {
    EXCHANGE_ALG(allgatherv, cma_write,
                 "every rank writes its block into the other ranks' buffers"),
};
