/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * scatter.c - scatter/cma_read: rooted.h with the blocks from the root, each read by its receiver.
 */
#include "alg/single_copy/rooted.h"

static struct block block_of(const struct coll *c, int rank)
{
    return block_number(c->in, c->bytes, rank);
}

static void scatter_cma_read(struct mem *m, const struct coll *c)
{
    bool within = mem_rank(m) == c->root && coll_in_place(c);
    const struct block one = within ? block_of(c, c->root) : block_whole(c->out);

    rooted_blocks(m, c, false, false, block_of, &one);
}

ALG_DEFINE(scatter, cma_read) = {
    ROOTED_ALG(scatter, cma_read, "every rank reads its block from the root's buffer"),
};
