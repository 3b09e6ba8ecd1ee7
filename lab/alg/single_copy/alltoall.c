/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * alltoall.c - alltoallv/cma_write, kept for comparison: exchange.h with the blocks of a call as
 * they are.
 *
 * Not needed
 *   single_copy.h: R1, A1 by alltoallv/cma_write: its offers are entries (offers.h)
 */
#include "alg/single_copy/exchange.h"

static struct block view_sent(const struct coll *c, int rank)
{
    return (struct block){ { .view = &c->in[rank] }, c->in[rank].bytes };
}

static struct block view_got(const struct coll *c, int rank)
{
    return (struct block){ { .view = &c->out[rank] }, c->out[rank].bytes };
}

static void alltoallv_cma_write(struct mem *m, const struct coll *c)
{
    exchange_blocks(m, c, true, view_sent, view_got);
}

ALG_DEFINE(alltoallv, cma_write) = {
    EXCHANGE_ALG(alltoallv, cma_write,
                 "every rank writes its blocks into the other ranks' buffers"),
};
