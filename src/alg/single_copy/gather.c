/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gather.c - gather/cma_write: rooted.h with the blocks to the root, each written by its sender.
 */
#include "alg/single_copy/rooted.h"

static struct block block_of(const struct coll *c, int rank)
{
    return block_number(c->out, c->bytes, rank);
}

static void gather_cma_write(struct mem *m, const struct coll *c)
{
    bool within = mem_rank(m) == c->root && coll_in_place(c);
    const struct block one = within ? block_of(c, c->root) : block_whole(c->in);

    rooted_blocks(m, c, true, false, block_of, &one);
}

ALG_DEFINE(gather, cma_write) = {
    ROOTED_ALG(gather, cma_write, "every rank writes its block into the root's buffer"),
};
