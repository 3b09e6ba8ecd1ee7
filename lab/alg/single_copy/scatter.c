/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * scatter.c - scatter/cma_write, scatterv/cma_read and scatterv/cma_write, kept for comparison:
 * rooted.h with the blocks from the root.  scatter/cma_read serves calls, see
 * src/alg/single_copy/scatter.c.
 */
#include "alg/single_copy/rooted.h"

/* ---- scatter ---- */

static struct block block_of(const struct coll *c, int rank)
{
    return block_number(c->in, c->bytes, rank);
}

static void scatter_cma_write(struct mem *m, const struct coll *c)
{
    bool within = mem_rank(m) == c->root && coll_in_place(c);
    const struct block one = within ? block_of(c, c->root) : block_whole(c->out);

    rooted_blocks(m, c, false, true, block_of, &one);
}

ALG_DEFINE(scatter, cma_write) = {
    ROOTED_ALG(scatter, cma_write, "the root writes the blocks into the other ranks' buffers"),
};

/* ---- scatterv ---- */

static struct block view_of(const struct coll *c, int rank)
{
    return block_whole(&c->in[rank]);
}

ALG_INLINE void scatter_views(struct mem *m, const struct coll *c, bool root_copies)
{
    const struct block one = block_whole(c->out);

    rooted_blocks(m, c, false, root_copies, view_of, &one);
}

static void scatterv_cma_read(struct mem *m, const struct coll *c)
{
    scatter_views(m, c, false);
}

static void scatterv_cma_write(struct mem *m, const struct coll *c)
{
    scatter_views(m, c, true);
}

ALG_DEFINE(scatterv, cma_read) = {
    ROOTED_ALG(scatterv, cma_read, "every rank reads its block from the root's buffer"),
};

ALG_DEFINE(scatterv, cma_write) = {
    ROOTED_ALG(scatterv, cma_write, "the root writes the blocks into the other ranks' buffers"),
};
