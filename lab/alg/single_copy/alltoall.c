/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * alltoall.c - alltoallv/push, kept for comparison: exchange.h with the blocks of a call as they
 * are.
 *
 * Not needed
 *   single_copy.h: R1, A1 by alltoallv/push: its offers are entries (offers.h)
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

static void alltoallv_push(struct mem *m, const struct coll *c)
{
    exchange_blocks(m, c, true, view_sent, view_got);
}

ALG_DEFINE(alltoallv, push) = {
    EXCHANGE_ALG(alltoallv, push, "every rank writes its blocks into the other ranks' buffers"),
};
