/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * exchange.h - blocks from every rank to every other by kernel copies: alltoall.c, allgather.c.
 * `cma_read`: every rank offers its blocks, and pulls the blocks for it out of the others' buffers.
 * `cma_write`: every rank offers places for blocks, and pushes its own blocks into the others'
 * buffers.  The offers: offers.h.  Reports: single_copy.h; bounce buffers: bounce.h.
 *
 * Source    this project; MPI libraries use the kernel's copies for messages (CMA).  The order of
 *           the blocks is that of pairwise exchange.  `steps = even`: as in pairwise exchange, a
 *           rank begins its next copy when the other copy of the step, of its own block or into it,
 *           is done.  So two ranks seldom copy from or to the same rank at a time, where they wait
 *           for each other in the kernel.
 * Shape     p ranks, n[i][j] bytes from i to j.  Rank j pulls n[i][j] from each i, from rank j - 1
 *           on, or pushes n[j][i] to each i, from rank j + 1 on; and copies n[j][j].  Small blocks
 *           are in the offers.  Afterwards pairs of ranks exchange through their bounce buffers the
 *           bytes that the kernel did not copy; in place, all larger blocks.
 * Cost      T = 2 l + (sum of n[i][j] over i) t + n[j][j] u  ns, of the rank j with the maximum; l
 *           one line transfer, t ns per byte that the kernel copies, and maps to do so, u of a
 *           copy in one process.  `cma_write`: the sum of n[j][i] over i; copied data are in the
 *           caches of the copying rank, if it has just written them
 *           traffic: none beyond the bytes read and written; small blocks, and those that cannot
 *           be reached, are copied once more, which stays in the caches
 * Accepts   any sizes, if the ranks can reach each other's memory (alg_family.direct) and the lease
 *           has room for a bounce buffer.
 *
 * Deadlock freedom
 *   1. `steps = even`: a rank awaits the report of another rank's k-th copy after its own k-th
 *      copy.  A k-th copy waits only for reports of copies before the k-th.
 * Safety
 *   1. A rank pushes into a view only after its owner's offer.  The rank that copies a block
 *      reports the copy, and the owner returns only after the report.
 *   2. A block that is longer than its receiver expects is not pushed: it goes through the bounce
 *      buffer.  The receiver drops bytes beyond its own block, even if the view continues with
 *      other blocks, and reports the truncation.
 */
#ifndef HUD_ALG_EXCHANGE_H
#define HUD_ALG_EXCHANGE_H

#include "alg/single_copy/bounce.h"
#include "alg/single_copy/offers.h"

/* Copies by the kernel the block offered by another rank.  exchange_push() copies a block into the
 * place offered by another rank.  Both return the number of bytes copied or dropped. */
static inline size_t exchange_pull(const struct exchange *x, int rank, const mem_flag *offer,
                                   const struct block *to)
{
    struct direct from = direct_read(x->m, &offer->payload[OFFER_ADDRESS]);

    from.word[DIRECT_BYTES] = offer_block_bytes(x, offer);
    return direct_pull(x->m, rank, &from, to, 0);
}

static inline size_t exchange_push(const struct exchange *x, int rank, const mem_flag *offer,
                                   const struct block *from)
{
    struct direct to = direct_read(x->m, &offer->payload[OFFER_ADDRESS]);

    to.word[DIRECT_BYTES] = mem_get(x->m, &offer->payload[OFFER_EXPECTED]);
    return direct_push(x->m, rank, &to, from, 0);
}

/* Copies out a rank's block if the block is small.  Copies larger blocks by the kernel, if this
 * rank is to copy them, and reports the missing bytes. */
static inline void exchange_copy(const struct exchange *x, int rank, const struct block *out,
                                 const struct block *in)
{
    struct mem *m = x->m;
    const mem_flag *offer = offer_await(x, rank);
    size_t bytes = offer_block_bytes(x, offer);

    if (!offer_goes_along(x, offer)) {
        block_truncate(m);
        return;
    }
    if (offer_holds(x, bytes))
        block_out(m, &in->at, in->bytes, (const char *)offer + offer_head_bytes(x), bytes);
    else if (!x->push)
        single_report(m, x->c, rank,
                      block_same(&out->at, &in->at) ? 0 : exchange_pull(x, rank, offer, in), bytes);
    if (x->push && !offer_holds(x, out->bytes))
        single_report(m, x->c, rank, exchange_push(x, rank, offer, out), out->bytes);
}

/* Waits until a rank has copied this rank's block, or its own block into this rank's buffer. */
static inline void exchange_await_copied(const struct exchange *x, int rank,
                                         const struct block *out)
{
    if (!x->push && offer_holds(x, out->bytes))
        return;
    const mem_flag *offer = offer_await(x, rank);
    if (offer_goes_along(x, offer) && !(x->push && offer_holds(x, offer_block_bytes(x, offer))))
        single_await_report(x->m, x->c, rank);
}

/* Returns the missing bytes of a block between this rank and another.  `mine` is true for this
 * rank's block. */
static inline struct single_missing exchange_missing(const struct exchange *x, int rank, bool mine,
                                                     size_t bytes)
{
    if (offer_holds(x, bytes))
        return (struct single_missing){ 0 };
    return x->push == mine ? single_reported(x->m, mem_rank(x->m), rank)
                           : single_reported(x->m, rank, mem_rank(x->m));
}

/* Exchanges the missing bytes of the blocks of a pair of ranks through their bounce buffers. */
static inline void exchange_bounce_missing(const struct exchange *x, int rank,
                                           const struct block *out, const struct block *in)
{
    const mem_flag *offer = offer_of(x, x->c->op, rank, mem_rank(x->m));

    if (!offer_goes_along(x, offer))
        return;
    struct single_missing theirs = exchange_missing(x, rank, true, out->bytes),
                          ours = exchange_missing(x, rank, false, offer_block_bytes(x, offer));
    if (theirs.from == theirs.end && ours.from == ours.end)
        return;
    const struct block send = single_cut(out, theirs.from, theirs.end),
                       get = single_cut(in, ours.from, ours.end);

    bounce_swap(x->m, x->c, rank, &send, &get, block_left(in->bytes, ours.from));
}

/* Returns the block of this rank's call for a rank, or from a rank. */
typedef struct block exchange_block(const struct coll *c, int rank);

ALG_INLINE void exchange_blocks(struct mem *m, const struct coll *c, bool push,
                                exchange_block *sent, exchange_block *got)
{
    int me = mem_rank(m), ranks = mem_size(m);
    const struct exchange x = exchange_begin(m, c, push);

    for (int k = 1; k < ranks; k++) {
        struct block to = sent(c, single_other(m, k)), from = got(c, single_other(m, k));
        offer_publish(&x, single_other(m, k), &to, &from);
    }
    struct block out = sent(c, me), in = got(c, me);
    block_move(m, &in, &out);
    for (int k = 1; k < ranks; k++) {
        int rank = single_other(m, push ? k : ranks - k),
            peer = single_other(m, push ? ranks - k : k);
        struct block to = sent(c, rank), from = got(c, rank);
        exchange_copy(&x, rank, &to, &from);
        if (c->param[OFFERS_STEPS] == STEPS_EVEN) {
            out = sent(c, peer);
            exchange_await_copied(&x, peer, &out);
        }
    }
    for (int k = 1; k < ranks; k++) {
        int rank = single_other(m, push ? ranks - k : k);
        out = sent(c, rank);
        exchange_await_copied(&x, rank, &out);
        offer_prefetch(&x, rank, &out);
    }
    for (int k = 0; k < ranks; k++) {
        int rank = (k + ranks - me) % ranks;
        if (rank == me)
            continue;
        struct block to = sent(c, rank), from = got(c, rank);
        exchange_bounce_missing(&x, rank, &to, &from);
    }
}

/* Defined in alltoall.c. */
extern const struct alg_family HUD_BACKEND(exchange_family);

/* Fields that all rows of the family share. */
#define EXCHANGE_ALG(coll_, name_, doc_)                                                           \
    .coll = #coll_, .name = #name_, .doc = "single copy: " doc_, .source = "this project",         \
    .family = &HUD_BACKEND(exchange_family), .run = coll_##_##name_

#endif
