/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * deliver.c - allreduce/cma_write, kept for comparison: every rank owns a slice of the message, to
 * which the others contribute through their bounce buffers.  It reduces the contributions into its
 * own result, and writes the result to the other ranks.  Contributions: deliver.h.  Lines, edges:
 * single_copy.h, bounce.h.
 *
 * Source    this project.  Contributions as in allreduce/slices, results as in allreduce/cma_read.
 * Shape     p ranks, n bytes.  First contributions, in fragments, each with a piece of every slice
 *           (shape/pieces.h), use both halves of a rank's bounce buffer in turn.  An owner reduces
 *           its piece of all contributions, in rank order, into its `out`.  Then it pushes its
 *           whole slice to each other rank, from rank r + 1 on.  Afterwards pairs of ranks exchange
 *           through their bounce buffers the bytes that the kernel did not copy.
 * Cost      T = F l + (1 - 1/p) n u + n r + l + (1 - 1/p) n t     ns; F fragments, l one line
 *           transfer, u ns per byte copied in cache, r per byte that a reduction reads, t per byte
 *           that the kernel copies, and maps to do so
 *           traffic: 3 (1 - 1/p) n bytes beyond in and out, in cache: the result is read again for
 *           each push
 * Accepts   any n, if the ranks can reach each other's memory (alg_family.direct) and the lease
 *           has room for a bounce buffer.
 *
 * Deadlock freedom
 *   1. No rank pushes before it has all entries, which need no wait.  Apart from entries and
 *      reports (single_copy.h), an owner waits for contributions.
 *   2. All ranks go through the same fragments in the same order.  A rank that waits in fragment k
 *      waits for another rank's contributions to it, which that rank announces before it waits in
 *      k; or, before its own contributions, for the acknowledgements of fragment k - 2.
 * Safety
 *   1. In place: a slice is pushed to a rank only after its owner has reduced that rank's
 *      contributions to the whole slice, which were copied from there before.
 *   2. A rank continues with the missing bytes, for which bounce buffers are used again, only after
 *      the reports of all others.  So all have reduced its contributions.
 *   3. An owner writes its slice into buffers of other ranks.  These are large enough, as all ranks
 *      have announced the same message.  Otherwise no rank reads more than entries; the first
 *      contributions are already in the bounce buffers, and are dropped.
 */
#include "lab/alg/single_copy/deliver.h"
#include "alg/single_copy/agree.h"

/* Returns a rank's slice in this rank's `out`. */
static struct block deliver_slice(const struct deliver *d, int rank)
{
    size_t at = (size_t)rank * d->cut.block_bytes;

    return (
        struct block){ { .view = d->c->out, .offset_bytes = at < d->c->bytes ? at : d->c->bytes },
                       pieces_block(&d->cut, rank) };
}

/* Pushes this rank's slice into another rank's `out`, as far as the kernel copies it, and reports
 * the missing bytes. */
static void deliver_push(const struct deliver *d, int rank)
{
    const struct block slice = deliver_slice(d, mem_rank(d->m));
    uint64_t to = single_await_entry(d->m, d->c, rank).out;
    bool reached = to != 0 && slice.bytes != 0 && mem_expose(d->m, d->c->out) != 0;

    single_report(d->m, d->c, rank,
                  reached ? mem_push(d->m, &slice.at, rank, to, slice.at.offset_bytes, slice.bytes)
                          : 0,
                  slice.bytes);
}

/* Exchanges the missing bytes of both ranks' slices through their bounce buffers. */
static void deliver_bounce_missing(const struct deliver *d, int rank)
{
    int me = mem_rank(d->m);
    const struct block mine = deliver_slice(d, me), theirs = deliver_slice(d, rank);
    struct single_missing to = single_reported(d->m, me, rank),
                          from = single_reported(d->m, rank, me);
    const struct block send = single_cut(&mine, to.from, to.end),
                       get = single_cut(&theirs, from.from, from.end);

    bounce_swap(d->m, d->c, rank, &send, &get, get.bytes);
}

static void allreduce_cma_write(struct mem *m, const struct coll *c)
{
    const struct deliver d = { m, c, cut_of(c, mem_size(m), NULL, DELIVER_SETS, 0) };
    const struct single_exposed mine = { .out = mem_expose(m, c->out),
                                         .cut = c->reduction->element_bytes,
                                         .bytes = c->bytes };
    struct pieces_place now = { .at = 0 };
    int me = mem_rank(m), ranks = mem_size(m);

    for (int k = 1; k < ranks; k++)
        single_enter(m, c, single_other(m, k), &mine);
    for (pieces_begin(&d.cut, &now); pieces_more(&d.cut, &now); pieces_next(&d.cut, &now)) {
        deliver_contribute(&d, &now);
        if (now.at == 0 && !single_agree(m, c, &mine))
            return;
        deliver_reduce(&d, &now);
    }
    for (int k = 1; k < ranks; k++)
        deliver_push(&d, single_other(m, k));
    for (int k = 1; k < ranks; k++) {
        single_await_report(m, c, single_other(m, ranks - k));
        bounce_add_fragments(m, single_other(m, k), now.at);
    }
    for (int k = 0; k < ranks; k++) {
        int rank = (k + ranks - me) % ranks;
        if (rank != me)
            deliver_bounce_missing(&d, rank);
    }
}

ALG_DEFINE(allreduce, cma_write) = {
    .coll = "allreduce",
    .name = "cma_write",
    .doc = "every rank reduces one slice of all contributions and writes the result into the other "
           "ranks' buffers",
    .source = "this project",
    .ordered = true,
    .family = &HUD_BACKEND(single_family),
    .run = allreduce_cma_write,
};
