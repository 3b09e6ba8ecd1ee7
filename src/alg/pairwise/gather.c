/* SPDX-License-Identifier: BSD-3-Clause */
/* gather.c - gather and gatherv of a span by pairs of ranks (pairwise.h).  Only pairs with the root
 * have a block. */
#include "alg/pairwise/pairwise.h"

static const struct block none;

/* ---- gather ---- */

/* Returns the block that a rank sends.  The root's own block may be in place. */
static struct block block_out_of(const struct coll *c, int self, int other)
{
    bool within = self == c->root && coll_in_place(c);

    return other == c->root ? block_number(c->in, c->bytes, within ? self : 0) : none;
}

static struct block block_in_of(const struct coll *c, int self, int other)
{
    return self == c->root ? block_number(c->out, c->bytes, other) : none;
}

static void gather_pairwise(struct mem *m, const struct coll *c)
{
    HUD_BACKEND(pairwise_run)(m, c, NET_GATHER_PAIRWISE, block_out_of, block_in_of);
}

ALG_DEFINE(gather, pairwise) = { PAIRWISE_ALG(gather) };

/* ---- gatherv ---- */

static struct block view_out_of(const struct coll *c, int self, int other)
{
    (void)self;
    return other == c->root ? block_whole(c->in) : none;
}

static struct block view_in_of(const struct coll *c, int self, int other)
{
    return self == c->root ? block_whole(&c->out[other]) : none;
}

static void gatherv_pairwise(struct mem *m, const struct coll *c)
{
    HUD_BACKEND(pairwise_run)(m, c, NET_GATHERV, view_out_of, view_in_of);
}

ALG_DEFINE(gatherv, pairwise) = { PAIRWISE_ALG(gatherv) };
