/* SPDX-License-Identifier: BSD-3-Clause */
/* alltoall.c - alltoall and alltoallv of a span by pairs of ranks: pairs.h. */
#include "alg/pairs/pairs.h"

/* ---- alltoall ---- */

static struct block block_out_of(const struct coll *c, int self, int other)
{
    (void)self;
    return block_number(c->in, c->bytes, other);
}

static struct block block_in_of(const struct coll *c, int self, int other)
{
    (void)self;
    return block_number(c->out, c->bytes, other);
}

static void alltoall_pairs(struct mem *m, const struct coll *c)
{
    HUD_BACKEND(pairs_run)(m, c, NET_ALLTOALL_PAIRS, block_out_of, block_in_of);
}

ALG_DEFINE(alltoall, pairs) = { PAIRS_ALG(alltoall) };

/* ---- alltoallv ---- */

static struct block view_out_of(const struct coll *c, int self, int other)
{
    (void)self;
    return block_whole(&c->in[other]);
}

static struct block view_in_of(const struct coll *c, int self, int other)
{
    (void)self;
    return block_whole(&c->out[other]);
}

static void alltoallv_pairs(struct mem *m, const struct coll *c)
{
    HUD_BACKEND(pairs_run)(m, c, NET_ALLTOALLV, view_out_of, view_in_of);
}

ALG_DEFINE(alltoallv, pairs) = { PAIRS_ALG(alltoallv) };
