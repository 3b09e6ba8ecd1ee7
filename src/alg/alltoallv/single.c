/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * alltoallv/single.c - single copy: as alltoall/single, with blocks of any sizes and types at any
 * places.
 *
 * Source    this project, after alltoall/single
 * Shape     p ranks, n[i][j] bytes from i to j.  Rank j pulls n[i][j] from each i, from rank j - 1
 *           on, and copies n[j][j].
 * Cost      T = 2 l + (sum of n[i][j] over i) t     ns, of the rank j where that is most; l and t
 *           as in alltoall/single traffic: none beyond the bytes read and written; blocks up to 16
 *           KB / (p - 1), and what cannot be reached, go through the slot: two copies more, which
 *           stay in the caches
 * Accepts   any sizes, if the ranks can reach each other's memory (alg.direct) and the lease has a
 *           box.
 *
 * Lines and edges are single.h's, single_box.h's and single_entry.h's; in place, larger blocks go
 * through the box.
 */
#include "alg/single_exchange.h"

static struct single_part sent(const struct coll *c, int rank)
{
    return (struct single_part){ { .view = &c->ins[rank] }, c->ins[rank].bytes };
}

static struct single_part got(const struct coll *c, int rank)
{
    return (struct single_part){ { .view = &c->outs[rank] }, c->outs[rank].bytes };
}

static void run(struct mem *m, const struct coll *c)
{
    exchange_run(m, c, sent, got);
}

ALG_DEFINE(alltoallv, single) = {
    .coll = "alltoallv",
    .name = "single",
    .doc = "single copy: every rank reads its blocks out of the others' memory",
    .source = "this project, after alltoall/single",
    .direct = true,
    .family = "single",
    .slot_bytes = single_slot_bytes,
    .run = run,
};
