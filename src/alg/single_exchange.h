/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * single_exchange.h - alltoall/single and alltoallv/single: every rank enters (single_entry.h), and
 * pulls the blocks for it out of the others' buffers, each from another rank than the others do.
 * Afterwards pairs of ranks exchange through their boxes what could not be pulled.
 */
#ifndef HUD_ALG_SINGLE_EXCHANGE_H
#define HUD_ALG_SINGLE_EXCHANGE_H

#include "alg/single_entry.h"

/* The block of this rank's call for a rank, and that from it. */
typedef struct single_part exchange_block(const struct coll *c, int rank);

/* Bytes of a block that came straight from its sender's buffer. */
static inline size_t exchange_pull(struct mem *m, int rank, const struct single_place *from,
                                   const struct single_part *to)
{
    if (from->in == 0 || mem_expose(m, to->at.view) == 0)
        return 0;
    return mem_pull(m, &to->at, rank, from->in, from->offset_bytes, from->bytes);
}

/* Takes what there is of a rank's block, and if it was not small, tells it. */
static inline void exchange_take(const struct exchange *x, int rank, const struct single_part *out,
                                 const struct single_part *in)
{
    struct mem *m = x->m;
    mem_flag *entry = exchange_entry(x, x->count, rank, mem_rank(m));
    struct single_place from = exchange_meet(x, entry);

    if (exchange_small(x, from.bytes))
        mem_out(m, in->at.view, &entry->payload[EXCHANGE_BLOCK], in->at.offset_bytes, from.bytes);
    else
        single_tell(m, x->c, rank,
                    exchange_in_place(out, in) ? 0 : exchange_pull(m, rank, &from, in), from.bytes);
}

/* What is lacking of the blocks of a pair of ranks. */
static inline void exchange_mend(const struct exchange *x, int rank, const struct single_part *out,
                                 const struct single_part *in)
{
    struct mem *m = x->m;
    const mem_flag *entry = exchange_entry(x, x->count, rank, mem_rank(m));
    struct single_lack theirs = { 0 }, ours = { 0 };

    if (!exchange_small(x, out->bytes))
        theirs = single_told(m, rank, mem_rank(m));
    if (!exchange_small(x, mem_get(m, &entry->payload[EXCHANGE_BYTES])))
        ours = single_told(m, mem_rank(m), rank);
    const struct single_part send = single_cut(out, theirs.from, theirs.end),
                             get = single_cut(in, ours.from, ours.end);
    single_swap(m, x->c, rank, &send, &get);
}

static inline void exchange_own(struct mem *m, const struct single_part *out,
                                const struct single_part *in)
{
    if (!exchange_in_place(out, in))
        mem_move(m, &in->at, &out->at, out->bytes);
}

static inline void exchange_run(struct mem *m, const struct coll *c, exchange_block *sent,
                                exchange_block *got)
{
    int me = mem_rank(m), ranks = mem_size(m);
    const struct exchange x = exchange_begin(m, c);

    for (int k = 1; k < ranks; k++) {
        struct single_part to = sent(c, single_other(m, k)), from = got(c, single_other(m, k));
        exchange_enter(&x, single_other(m, k), &to, &from);
    }
    struct single_part out = sent(c, me), in = got(c, me);
    exchange_own(m, &out, &in);
    for (int k = 1; k < ranks; k++) {
        struct single_part to = sent(c, single_other(m, ranks - k)),
                           from = got(c, single_other(m, ranks - k));
        exchange_take(&x, single_other(m, ranks - k), &to, &from);
    }
    for (int k = 1; k < ranks; k++) {
        out = sent(c, single_other(m, k));
        if (!exchange_small(&x, out.bytes))
            single_hear(m, c, single_other(m, k));
        exchange_claim(&x, single_other(m, k), &out);
    }
    for (int k = 0; k < ranks; k++) {
        int rank = (k + ranks - me) % ranks;
        if (rank == me)
            continue;
        out = sent(c, rank);
        in = got(c, rank);
        exchange_mend(&x, rank, &out, &in);
    }
}

#endif
