/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reduce/single.c - single copy: every rank reduces a slice of the others' own buffers, and writes
 * the result into the root's.
 *
 * Source    this project, after allreduce/single
 * Shape     p ranks, n bytes.  The owner of k bytes pulls (p - 1) k, reduces k of p sources, and
 *           pushes k, but for the root: so its slice is larger, by the ratio of 3 p to 3 p - 2, a
 *           byte that is reduced taken as half of one that is copied.
 * Cost      T = 2 l + (n / p) (p t + p r)     ns, about; l one line transfer, t ns per byte that
 *           the kernel copies, r ns per byte that is reduced traffic: what each pulls is written to
 *           its box and read again, and so is its result unless the root's, in caches of its own;
 *           box of 128 KB
 * Accepts   any n, if the ranks can reach each other's memory (alg.direct) and the lease has a box.
 *
 * Lines and edges are single.h's and single_box.h's.
 */
#include "alg/single_reduce.h"

static size_t starts(const struct coll *c, int ranks, int rank)
{
    size_t element = c->reduction->element_bytes, p = (size_t)ranks, share = 3 * p - 2;

    return c->bytes / element * (share * (size_t)rank + (rank > c->root ? 2 : 0)) /
           (share * p + 2) * element;
}

static bool gets(const struct coll *c, int rank, int owner)
{
    (void)owner;
    return rank == c->root;
}

static void run(struct mem *m, const struct coll *c)
{
    reduce_run(&(struct job){ .m = m, .c = c, .starts = starts, .gets = gets });
}

ALG_DEFINE(reduce, single) = {
    .coll = "reduce",
    .name = "single",
    .doc = "single copy: every rank reduces a slice of the others' memory and writes the result "
           "into the root's",
    .source = "this project",
    .direct = true,
    .ordered = true,
    .family = "single",
    .slot_bytes = single_slot_bytes,
    .run = run,
};
