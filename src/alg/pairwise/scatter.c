/* SPDX-License-Identifier: BSD-3-Clause */
/* scatter.c - scatter and scatterv of a span by pairs of ranks (pairwise.h).  Only pairs with the
 * root have a block. */
#include "alg/pairwise/pairwise.h"

static const struct block none;

/* ---- scatter ---- */

static struct block block_out_of(const struct coll *c, int self, int other)
{
    return self == c->root ? block_number(c->in, c->bytes, other) : none;
}

static struct block block_in_of(const struct coll *c, int self, int other)
{
    bool within = self == c->root && coll_in_place(c);

    return other == c->root ? block_number(c->out, c->bytes, within ? self : 0) : none;
}

static void scatter_pairwise(struct mem *m, const struct coll *c)
{
    HUD_BACKEND(pairwise_run)(m, c, NET_SCATTER_PAIRWISE, block_out_of, block_in_of);
}

ALG_DEFINE(scatter, pairwise) = { PAIRWISE_ALG(scatter) };

/* ---- scatterv ---- */

static struct block view_out_of(const struct coll *c, int self, int other)
{
    return self == c->root ? block_whole(&c->in[other]) : none;
}

static struct block view_in_of(const struct coll *c, int self, int other)
{
    (void)self;
    return other == c->root ? block_whole(c->out) : none;
}

static void scatterv_pairwise(struct mem *m, const struct coll *c)
{
    HUD_BACKEND(pairwise_run)(m, c, NET_SCATTERV, view_out_of, view_in_of);
}

ALG_DEFINE(scatterv, pairwise) = { PAIRWISE_ALG(scatterv) };
