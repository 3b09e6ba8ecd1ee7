/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * single_exchange.h - alltoall/single and alltoallv/single: every rank pulls the blocks for it out of the others' buffers, each from another rank than the others do.
 * Afterwards pairs of ranks exchange through their boxes what could not be pulled.
 */
#ifndef HUD_ALG_SINGLE_EXCHANGE_H
#define HUD_ALG_SINGLE_EXCHANGE_H

#include "alg/single.h"

/* The block of this rank's call for a rank, and that from it. */
typedef struct single_part exchange_block(const struct coll *c, int rank);

static inline bool exchange_in_place(const struct single_part *out, const struct single_part *in)
{
    return (const char *)out->at.view->base + out->at.offset_bytes == (const char *)in->at.view->base + in->at.offset_bytes;
}

/* Bytes of a block that came straight from its sender's buffer. */
static inline size_t exchange_pull(struct mem *m, int rank, const struct single_place *from, const struct single_part *to)
{
    if (from->in == 0 || mem_expose(m, to->at.view) == 0)
        return 0;
    return mem_pull(m, &to->at, rank, from->in, from->offset_bytes, from->bytes);
}

static inline void exchange_run(struct mem *m, const struct coll *c, exchange_block *sent, exchange_block *got)
{
    int me = mem_rank(m), ranks = mem_size(m);
    struct single_part own = sent(c, me), place = got(c, me);

    for (int k = 1; k < ranks; k++) {
        int rank = single_other(m, k);
        struct single_part out = sent(c, rank), in = got(c, rank);
        uint64_t address = exchange_in_place(&out, &in) ? 0 : mem_expose(m, out.at.view);
        single_enter(m, c, rank, &(struct single_place){ address, 0, out.at.offset_bytes, out.bytes });
    }
    if (!exchange_in_place(&own, &place))
        mem_move(m, &place.at, &own.at, own.bytes);
    for (int k = 1; k < ranks; k++) {
        int rank = single_other(m, k);
        struct single_part out = sent(c, rank), in = got(c, rank);
        struct single_place from = single_meet(m, c, rank);
        single_tell(m, c, rank, exchange_in_place(&out, &in) ? 0 : exchange_pull(m, rank, &from, &in), from.bytes);
    }
    for (int k = 0; k < ranks; k++) {
        int rank = (k + ranks - me) % ranks;
        if (rank == me)
            continue;
        struct single_lack theirs = single_hear(m, c, rank), ours = single_told(m, me, rank);
        struct single_part out = sent(c, rank), in = got(c, rank);
        out = single_rest(&out, &theirs);
        in = single_rest(&in, &ours);
        single_swap(m, c, rank, &out, &in);
    }
}

#endif
