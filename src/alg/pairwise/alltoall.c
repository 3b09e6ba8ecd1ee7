/* SPDX-License-Identifier: BSD-3-Clause */
/* alltoall.c - alltoall and alltoallv of a span by pairs of ranks (pairwise.h). */
#include "alg/pairwise/pairwise.h"

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

static void alltoall_pairwise(struct mem *m, const struct coll *c)
{
    HUD_BACKEND(pairwise_run)(m, c, NET_ALLTOALL_PAIRWISE, block_out_of, block_in_of);
}

ALG_DEFINE(alltoall, pairwise) = { PAIRWISE_ALG(alltoall) };

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

static void alltoallv_pairwise(struct mem *m, const struct coll *c)
{
    HUD_BACKEND(pairwise_run)(m, c, NET_ALLTOALLV, view_out_of, view_in_of);
}

ALG_DEFINE(alltoallv, pairwise) = { PAIRWISE_ALG(alltoallv) };
