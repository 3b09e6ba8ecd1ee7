/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * single_exchange.h - alltoall/single and alltoallv/single: every rank pulls the blocks for it out of the others' buffers, each from another rank than the others do.
 * Afterwards pairs of ranks exchange through their boxes what could not be pulled.  Small blocks are in the box from the start.
 */
#ifndef HUD_ALG_SINGLE_EXCHANGE_H
#define HUD_ALG_SINGLE_EXCHANGE_H

#include "alg/single_box.h"

enum { EXCHANGE_SMALL = 16 << 10 }; /* bytes at most that are copied twice: a call of the kernel takes half a microsecond */

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

/* Blocks up to here are in the box when their sender says that it has entered, each at a place of its own. */
static inline size_t exchange_small(const struct coll *c, int ranks)
{
    size_t place = 2 * single_half(c->slot_bytes, ranks) / (size_t)ranks / HUD_LINE * HUD_LINE;

    return place < EXCHANGE_SMALL ? place : EXCHANGE_SMALL;
}

static inline char *exchange_place(struct mem *m, const struct coll *c, int owner, int rank)
{
    return single_box(m, c, owner, 0) + (size_t)rank * exchange_small(c, mem_size(m));
}

static inline void exchange_enter(struct mem *m, const struct coll *c, int rank, const struct single_part *out,
                                  const struct single_part *in)
{
    struct single_place place = { .offset_bytes = out->at.offset_bytes, .bytes = out->bytes };

    if (out->bytes <= exchange_small(c, mem_size(m)))
        mem_in_all(m, exchange_place(m, c, mem_rank(m), rank), out->at.view, out->at.offset_bytes, out->bytes);
    else if (!exchange_in_place(out, in))
        place.in = mem_expose(m, out->at.view);
    single_enter(m, c, rank, &place);
}

/* Takes what there is of a rank's block, and tells it. */
static inline void exchange_take(struct mem *m, const struct coll *c, int rank, const struct single_part *out, const struct single_part *in)
{
    struct single_place from = single_meet(m, c, rank);
    size_t got = from.bytes;

    if (from.bytes <= exchange_small(c, mem_size(m)))
        mem_out(m, in->at.view, exchange_place(m, c, rank, mem_rank(m)), in->at.offset_bytes, from.bytes);
    else
        got = exchange_in_place(out, in) ? 0 : exchange_pull(m, rank, &from, in);
    single_tell(m, c, rank, got, from.bytes);
}

static inline void exchange_run(struct mem *m, const struct coll *c, exchange_block *sent, exchange_block *got)
{
    int me = mem_rank(m), ranks = mem_size(m);
    struct single_part out = sent(c, me), in = got(c, me);

    for (int k = 1; k < ranks; k++) {
        struct single_part to = sent(c, single_other(m, k)), from = got(c, single_other(m, k));
        exchange_enter(m, c, single_other(m, k), &to, &from);
    }
    if (!exchange_in_place(&out, &in))
        mem_move(m, &in.at, &out.at, out.bytes);
    for (int k = 1; k < ranks; k++) {
        struct single_part to = sent(c, single_other(m, ranks - k)), from = got(c, single_other(m, ranks - k));
        exchange_take(m, c, single_other(m, ranks - k), &to, &from);
    }
    for (int k = 1; k < ranks; k++)
        single_hear(m, c, single_other(m, k));
    for (int k = 0; k < ranks; k++) {
        int rank = (k + ranks - me) % ranks;
        if (rank == me)
            continue;
        struct single_lack theirs = single_told(m, rank, me), ours = single_told(m, me, rank);
        out = sent(c, rank);
        in = got(c, rank);
        out = single_cut(&out, theirs.from, theirs.end);
        in = single_cut(&in, ours.from, ours.end);
        single_swap(m, c, rank, &out, &in);
    }
}

#endif
