/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reduce_scatter/single.c - single copy: every rank reduces its block of the others' own buffers.
 *
 * Source    this project, after allreduce/single
 * Shape     p ranks, n bytes in blocks.  Who gets k bytes pulls (p - 1) k and reduces k of p
 *           sources.
 * Cost      T = 2 l + k ((p - 1) t + p r)     ns, k the largest block; l one line transfer, t ns
 *           per byte that the kernel copies, r ns per byte that is reduced traffic: the (p - 1) k
 *           bytes that each pulls are written to its box and read again, in caches of its own; box
 *           of 128 KB
 * Accepts   any n, if the ranks can reach each other's memory (alg.direct) and the lease has a box.
 *           In place all goes through the boxes.
 *
 * Lines and edges are single.h's and single_box.h's.
 */
#include "alg/single_reduce.h"

static size_t starts(const struct coll *c, int ranks, int rank)
{
    size_t sum = 0;

    (void)ranks;
    for (int r = 0; r < rank; r++)
        sum += c->block_bytes[r];
    return sum;
}

static bool gets(const struct coll *c, int rank, int owner)
{
    (void)c;
    return rank == owner;
}

static void run(struct mem *m, const struct coll *c)
{
    reduce_run(&(struct job){ .m = m, .c = c, .starts = starts, .gets = gets, .scatters = true });
}

ALG_DEFINE(reduce_scatter, single) = {
    .coll = "reduce_scatter",
    .name = "single",
    .doc = "single copy: every rank reduces its block of the others' memory",
    .source = "this project",
    .direct = true,
    .ordered = true,
    .family = "single",
    .slot_bytes = single_slot_bytes,
    .run = run,
};
