/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * allgather/single.c - single copy: as alltoall/single, where a rank's block for every other is the
 * same.
 *
 * Source    this project, after alltoall/single
 * Shape     p ranks, blocks of n bytes.  A rank pulls the block of each other, from rank r - 1 on,
 *           and copies its own.
 * Cost      T = 2 l + (p - 1) n t + n u     ns, as alltoall/single traffic: none beyond the n bytes
 *           read by each and the p n bytes written; small blocks, up to 16 KB / (p - 1), and what
 *           cannot be reached, go through the slot: two copies more, which stay in the caches
 * Accepts   any n, if the ranks can reach each other's memory (alg.direct) and the lease has a box.
 *
 * Lines and edges are single.h's, single_box.h's and single_entry.h's.  In place nothing needs the
 * box: what a rank sends it does not receive into.
 */
#include "alg/single_exchange.h"

/* The call's root is the rank itself: whose block `in` has. */
static struct single_part sent(const struct coll *c, int rank)
{
    size_t at = coll_in_place(c) ? (size_t)c->root * c->bytes : 0;

    (void)rank;
    return (struct single_part){ { .view = &c->in, .offset_bytes = at }, c->bytes };
}

static struct single_part got(const struct coll *c, int rank)
{
    return (struct single_part){ { .view = &c->out, .offset_bytes = (size_t)rank * c->bytes },
                                 c->bytes };
}

static void run(struct mem *m, const struct coll *c)
{
    struct coll own = *c;

    own.root = mem_rank(m);
    exchange_run(m, &own, sent, got);
}

ALG_DEFINE(allgather, single) = {
    .coll = "allgather",
    .name = "single",
    .doc = "single copy: every rank reads the others' blocks out of their memory",
    .source = "this project, after alltoall/single",
    .direct = true,
    .family = "single",
    .slot_bytes = single_slot_bytes,
    .run = run,
};
