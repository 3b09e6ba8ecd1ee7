/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * allreduce.c - allreduce/cma_read, kept for comparison: owner.h, where all ranks get the whole
 * result.
 *
 * Shape     p ranks, n bytes.  The lengths of slices differ by at most one element.
 * Cost      T = 2 l + 2 (1 - 1/p) n t + n r     ns; l one line transfer, t per byte that
 *           the kernel copies, and maps to do so, r per byte that is reduced
 */
#include "alg/single_copy/owner.h"

static size_t allreduce_starts(const struct coll *c, int ranks, int rank)
{
    size_t element = c->reduction->element_bytes;

    return c->bytes / element * (size_t)rank / (size_t)ranks * element;
}

static bool allreduce_gets(const struct coll *c, int rank, int owner)
{
    (void)c, (void)rank, (void)owner;
    return true;
}

static void allreduce_cma_read(struct mem *m, const struct coll *c)
{
    const struct reduction r = {
        .m = m, .c = c, .starts = allreduce_starts, .gets = allreduce_gets
    };

    owner_reduce(&r);
}

ALG_DEFINE(allreduce, cma_read) = {
    .coll = "allreduce",
    .name = "cma_read",
    .doc = "single copy: every rank reduces one slice of all buffers and writes the result into "
           "all buffers",
    .source = "this project",
    .ordered = true,
    .family = &HUD_BACKEND(single_family),
    .run = allreduce_cma_read,
};
