/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reduce.c - reduce/cma_read: owner.h, where the root gets the whole result.
 *
 * Shape     p ranks, n bytes.  The owner of k bytes pulls (p - 1) k and pushes k, except the root,
 *           which pushes nothing.  So the root's slice is larger, by the ratio of 3 p to 3 p - 2,
 *           if reducing a byte costs half as much as copying it.
 * Cost      T = 2 l + (n / p) (p t + p r)     ns, about; l one line transfer, t per byte that
 *           the kernel copies, and maps to do so, r per byte that is reduced
 */
#include "alg/single_copy/owner.h"

static size_t reduce_starts(const struct coll *c, int ranks, int rank)
{
    size_t element = c->reduction->element_bytes, p = (size_t)ranks, share = 3 * p - 2;

    return c->bytes / element * (share * (size_t)rank + (rank > c->root ? 2 : 0)) /
           (share * p + 2) * element;
}

static bool reduce_gets(const struct coll *c, int rank, int owner)
{
    (void)owner;
    return rank == c->root;
}

static void reduce_cma_read(struct mem *m, const struct coll *c)
{
    const struct reduction r = { .m = m, .c = c, .starts = reduce_starts, .gets = reduce_gets };

    owner_reduce(&r);
}

ALG_DEFINE(reduce, cma_read) = {
    .coll = "reduce",
    .name = "cma_read",
    .doc = "single copy: every rank reduces one slice of all buffers and writes the result into "
           "the root's buffer",
    .source = "this project",
    .ordered = true,
    .family = &HUD_BACKEND(single_family),
    .run = reduce_cma_read,
};
