/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * alltoall/single.c - single copy: every rank reads its blocks out of the others' buffers itself.
 *
 * Source    this project: the kernel copies from one process to another, as the MPIs let it for
 *           messages (CMA); one after the other in turn so that no two ranks read from one, as in
 *           pairwise exchange.
 * Shape     p ranks, blocks of n bytes.  A rank pulls p - 1 blocks, from rank r - 1 on, and copies
 *           its own.
 * Cost      T = 2 l + (p - 1) n t + n u     ns; l one line transfer, t ns per byte that the kernel
 *           copies, and maps to do so, u of a copy in one process small blocks: l + (p - 2) g + 2
 *           (p - 1) n u, g one more overlapped line traffic: none beyond the p n bytes read and the
 *           p n bytes written; through the slot 2 (p - 1) n more, which stay in the caches: small
 *           blocks, up to 16 KB / (p - 1), and what cannot be reached
 * Accepts   any n, if the ranks can reach each other's memory (alg.direct) and the lease has a box.
 *
 * Lines and edges are single.h's, single_box.h's and single_entry.h's; in place, larger blocks go
 * through the box.
 */
#include "alg/single_exchange.h"

static struct single_part sent(const struct coll *c, int rank)
{
    return (struct single_part){ { .view = &c->in, .offset_bytes = (size_t)rank * c->bytes },
                                 c->bytes };
}

static struct single_part got(const struct coll *c, int rank)
{
    return (struct single_part){ { .view = &c->out, .offset_bytes = (size_t)rank * c->bytes },
                                 c->bytes };
}

static void run(struct mem *m, const struct coll *c)
{
    exchange_run(m, c, sent, got);
}

ALG_DEFINE(alltoall, single) = {
    .coll = "alltoall",
    .name = "single",
    .doc = "single copy: every rank reads its blocks out of the others' memory",
    .source = "this project",
    .direct = true,
    .family = "single",
    .slot_bytes = single_slot_bytes,
    .run = run,
};
