/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gather.c - gather/cma_read, gatherv/cma_read and gatherv/cma_write, kept for comparison: rooted.h
 * with the blocks to the root.  gather/cma_write serves calls, see src/alg/single_copy/gather.c.
 */
#include "alg/single_copy/rooted.h"

/* ---- gather ---- */

static struct block block_of(const struct coll *c, int rank)
{
    return block_number(c->out, c->bytes, rank);
}

static void gather_cma_read(struct mem *m, const struct coll *c)
{
    bool within = mem_rank(m) == c->root && coll_in_place(c);
    const struct block one = within ? block_of(c, c->root) : block_whole(c->in);

    rooted_blocks(m, c, true, true, block_of, &one);
}

ALG_DEFINE(gather, cma_read) = {
    ROOTED_ALG(gather, cma_read, "the root reads the blocks from the other ranks' buffers"),
};

/* ---- gatherv ---- */

static struct block view_of(const struct coll *c, int rank)
{
    return block_whole(&c->out[rank]);
}

ALG_INLINE void gather_views(struct mem *m, const struct coll *c, bool root_copies)
{
    const struct block one = block_whole(c->in);

    rooted_blocks(m, c, true, root_copies, view_of, &one);
}

static void gatherv_cma_read(struct mem *m, const struct coll *c)
{
    gather_views(m, c, true);
}

static void gatherv_cma_write(struct mem *m, const struct coll *c)
{
    gather_views(m, c, false);
}

ALG_DEFINE(gatherv, cma_read) = {
    ROOTED_ALG(gatherv, cma_read, "the root reads the blocks from the other ranks' buffers"),
};

ALG_DEFINE(gatherv, cma_write) = {
    ROOTED_ALG(gatherv, cma_write, "every rank writes its block into the root's buffer"),
};
