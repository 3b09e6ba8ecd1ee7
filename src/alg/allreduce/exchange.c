/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * allreduce/exchange.c - every rank shows its contribution, and reduces those of all by itself: one
 * line transfer, no second phase.
 *
 * Source    this project, after papers 01 (queues of buffers) and 05 (no barriers on the path).
 * Shape     p ranks, n bytes, by fragments of f.  Each rank copies a fragment into its own queue,
 *           then reads it in all queues, from rank 0's on; the next one is shown before this one is
 *           read.
 * Cost      T = l + n (t + p t_r) + ceil(n/f) (p - 1) g    ns; l one line transfer, t ns per byte
 *           copied in, t_r per byte read and reduced, g one more overlapped line traffic: beyond n
 *           in and n out a rank writes n, and reads (p - 1) n in others' queues and its own n once
 *           more, where it came from if p <= MEM_SOURCES: (p + 1) n
 * Accepts   any n, if the lease has a window.
 *
 * Positions (shape/ring.h) count over all operations of the slot, which the others of the family
 * have in common with this.  How: alg/sums.h; lines and edges: alg/show.h.
 */
#include "alg/sums.h"

static void run(struct mem *m, const struct coll *c)
{
    sums_run(m, c, &(struct show_want){ .part = { 0, c->bytes }, .stays = contribution_stays(m) });
}

ALG_DEFINE(allreduce, exchange) = {
    .coll = "allreduce",
    .name = "exchange",
    .doc = "every rank shows its contribution in its own queue and reduces all of them",
    .source = "this project, after papers 01 and 05",
    .ordered = true,
    .family = "contributions",
    .params = show_params,
    .slot_bytes = show_slot_bytes,
    .run = run,
};
