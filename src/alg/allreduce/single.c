/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * allreduce/single.c - single copy: every rank reduces a slice of the others' own buffers, and
 * writes the result into them.
 *
 * Source    this project; the cut over ranks is that of Rabenseifner's, without its log p rounds.
 * Shape     p ranks, n bytes.  A rank pulls (p - 1) n / p bytes, reduces n / p of p sources, and
 *           pushes (p - 1) n / p.
 * Cost      T = 2 l + 2 (1 - 1/p) n t + n r     ns; l one line transfer, t ns per byte that the
 *           kernel copies, and maps to do so, r ns per byte that is reduced traffic: beyond n in
 *           and n out a rank writes the (1 - 1/p) n that it pulls to its box, reads them there, and
 *           reads its result again for each push: 3 (1 - 1/p) n, in caches of its own; two ranks:
 *           1.5 n.  Lines cross twice; through two windows, four times.
 * Accepts   any n, if the ranks can reach each other's memory (alg.direct) and the lease has a box.
 *
 * Lines and edges are single.h's and single_box.h's.
 */
#include "alg/single_reduce.h"

/* Slices differ by an element at most. */
static size_t starts(const struct coll *c, int ranks, int rank)
{
    size_t element = c->reduction->element_bytes;

    return c->bytes / element * (size_t)rank / (size_t)ranks * element;
}

static bool gets(const struct coll *c, int rank, int owner)
{
    (void)c, (void)rank, (void)owner;
    return true;
}

static void run(struct mem *m, const struct coll *c)
{
    reduce_run(&(struct job){ .m = m, .c = c, .starts = starts, .gets = gets });
}

ALG_DEFINE(allreduce, single) = {
    .coll = "allreduce",
    .name = "single",
    .doc =
        "single copy: every rank reduces a slice of the others' memory and writes the result there",
    .source = "this project",
    .direct = true,
    .ordered = true,
    .family = "single",
    .slot_bytes = single_slot_bytes,
    .run = run,
};
