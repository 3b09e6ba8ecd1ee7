/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reduce_scatter.c - reduce_scatter/cma_read: owner.h, where the slices are the blocks of the
 * result.
 *
 * Cost      T = 2 l + k ((p - 1) t + p r)     ns, k the largest of p blocks;
 *           l one line transfer, t per byte that the kernel copies, and maps to do so, r per byte
 *           that is reduced
 */
#include "alg/single_copy/owner.h"

static size_t reduce_scatter_starts(const struct coll *c, int ranks, int rank)
{
    size_t sum = 0;

    (void)ranks;
    for (int r = 0; r < rank; r++)
        sum += c->block_bytes[r];
    return sum;
}

static bool reduce_scatter_gets(const struct coll *c, int rank, int owner)
{
    (void)c;
    return rank == owner;
}

static void reduce_scatter_cma_read(struct mem *m, const struct coll *c)
{
    const struct reduction r = { .m = m,
                                 .c = c,
                                 .starts = reduce_scatter_starts,
                                 .gets = reduce_scatter_gets,
                                 .scatters = true };

    owner_reduce(&r);
}

ALG_DEFINE(reduce_scatter, cma_read) = {
    .coll = "reduce_scatter",
    .name = "cma_read",
    .doc = "single copy: every rank reduces its block of all buffers",
    .source = "this project",
    .ordered = true,
    .family = &HUD_BACKEND(single_family),
    .run = reduce_scatter_cma_read,
};
