/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reduce_scatter/exchange.c - every rank shows its contribution, and reduces its own block of those
 * of all: one line transfer, no second phase.
 *
 * Source    this project, after allreduce/exchange
 * Shape     p ranks, n bytes in blocks of any sizes, by fragments of f, which need not end where
 *           blocks do.  Each rank copies a fragment into its own queue, then reads what it has of
 *           its own block in all queues, from rank 0's on; the next one is shown before this one is
 *           read.
 * Cost      T = l + n t + k p t_r + ceil(n/f) l + (p - 1) g    ns, k the largest block; l one line
 *           transfer, t ns per byte copied in, t_r per byte read and reduced, g one more overlapped
 *           line traffic: beyond n in and k out a rank writes n - k, and reads (p - 1) k in others'
 *           queues; in place, or if p > MEM_SOURCES, it writes n and reads p k
 * Accepts   any n, if the lease has a window.
 *
 * Positions (shape/ring.h) count over all operations of the slot, which the others of the family
 * have in common with this.  How: alg/sums.h; lines and edges: alg/show.h.
 *
 * In place, out is the beginning of in, across which the own block lies: so its contribution is
 * read in the queue.  What is written to out lies at or before the same bytes of the message, and
 * these have been shown.
 */
#include "alg/sums.h"

static void run(struct mem *m, const struct coll *c)
{
    struct show_want own = { .stays = contribution_stays(m) && !coll_in_place(c) };

    for (int r = 0; r < mem_rank(m); r++)
        own.part.begin += c->block_bytes[r];
    own.part.end = own.part.begin + c->block_bytes[mem_rank(m)];
    own.hidden = own.stays ? own.part : (struct show_bytes){ 0, 0 };
    sums_run(m, c, &own);
}

ALG_DEFINE(reduce_scatter, exchange) = {
    .coll = "reduce_scatter",
    .name = "exchange",
    .doc =
        "every rank shows its contribution in its own queue and reduces its block of all of them",
    .source = "this project, after papers 01 and 05",
    .ordered = true,
    .family = "contributions",
    .params = show_params,
    .slot_bytes = show_slot_bytes,
    .run = run,
};
