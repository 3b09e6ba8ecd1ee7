/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * single_exchange.h - alltoall/single and alltoallv/single: every rank pulls the blocks for it out of the others' buffers, each from another rank than the others do.
 * Afterwards pairs of ranks exchange through their boxes what could not be pulled.
 *
 * A small block lies behind its sender's entry, the first bytes in its line.  There are two sets of entries, in turn: whoever sees another's entry to the e-th
 * exchange knows that it has left the one before.  So a small block costs one line transfer, and no word of it comes back; only what is pulled is told of.
 * Exchanges are counted by themselves: in the family's other operations not all meet all.
 *
 * Line                        written by   read by   value e means
 *   slot[r].set[e % 2][i]     r            i         r has entered the e-th exchange; with it, where its block for i is, or the block
 *   slot[r].pair[r].here      r            r         (plain) exchanges up to now
 *
 * Edges     R5 -> A5   a copy behind an entry     happens before  the copy out
 *                      an entry                   happens before  the other's use of the view
 *                      a rank's copies out of it  happen before   the next write to that set
 */
#ifndef HUD_ALG_SINGLE_EXCHANGE_H
#define HUD_ALG_SINGLE_EXCHANGE_H

#include "alg/single_box.h"

/* The payload of an entry: the block's address, 0: out of reach, or small; where it begins there; its bytes; then the block, if it is small. */
enum { EXCHANGE_IN, EXCHANGE_OFFSET, EXCHANGE_BYTES, EXCHANGE_BLOCK };

enum { EXCHANGE_CLAIMED = 8192 /* bytes that are taken back for the next exchange, at most */ };

struct exchange {
    struct mem *m;
    const struct coll *c;
    uint64_t count;     /* of this exchange */
    size_t place_bytes; /* of an entry and what is behind it */
};

/* The block of this rank's call for a rank, and that from it. */
typedef struct single_part exchange_block(const struct coll *c, int rank);

static inline uint64_t *exchange_count(struct mem *m)
{
    return single_pair(m, mem_rank(m), mem_rank(m))->here.payload;
}

/* A rank's entry to this exchange, or to the one after it, for another. */
static inline mem_flag *exchange_entry(const struct exchange *x, uint64_t count, int owner, int other)
{
    size_t slot = x->c->slot_bytes;
    int ranks = mem_size(x->m), place = other < owner ? other : other - 1;
    char *sets = single_box(x->m, x->c, owner, 0) + 2 * single_half(slot, ranks);

    return (mem_flag *)(sets + count % 2 * single_set(slot, ranks) + (size_t)place * x->place_bytes);
}

static inline bool exchange_small(const struct exchange *x, size_t bytes)
{
    return bytes <= x->place_bytes - offsetof(mem_flag, payload[EXCHANGE_BLOCK]);
}

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

static inline void exchange_enter(const struct exchange *x, int rank, const struct single_part *out, const struct single_part *in)
{
    struct mem *m = x->m;
    mem_flag *entry = exchange_entry(x, x->count, mem_rank(m), rank);
    bool small = exchange_small(x, out->bytes);

    mem_put(m, &entry->payload[EXCHANGE_IN], small || exchange_in_place(out, in) ? 0 : mem_expose(m, out->at.view));
    mem_put(m, &entry->payload[EXCHANGE_OFFSET], out->at.offset_bytes);
    mem_put(m, &entry->payload[EXCHANGE_BYTES], out->bytes);
    if (small)
        mem_in_all(m, &entry->payload[EXCHANGE_BLOCK], out->at.view, out->at.offset_bytes, out->bytes);
    mem_post(m, entry, x->count); /* R5 */
}

/* Takes what there is of a rank's block, and if it was not small, tells it. */
static inline void exchange_take(const struct exchange *x, int rank, const struct single_part *out, const struct single_part *in)
{
    struct mem *m = x->m;
    mem_flag *entry = exchange_entry(x, x->count, rank, mem_rank(m));

    mem_await(m, entry, x->count); /* A5 */
    struct single_place from = { .in = mem_get(m, &entry->payload[EXCHANGE_IN]),
                                 .offset_bytes = mem_get(m, &entry->payload[EXCHANGE_OFFSET]),
                                 .bytes = mem_get(m, &entry->payload[EXCHANGE_BYTES]) };
    if (exchange_small(x, from.bytes))
        mem_out(m, in->at.view, &entry->payload[EXCHANGE_BLOCK], in->at.offset_bytes, from.bytes);
    else
        single_tell(m, x->c, rank, exchange_in_place(out, in) ? 0 : exchange_pull(m, rank, &from, in), from.bytes);
}

/* What is lacking of the blocks of a pair of ranks. */
static inline void exchange_mend(const struct exchange *x, int rank, const struct single_part *out, const struct single_part *in)
{
    struct mem *m = x->m;
    const mem_flag *entry = exchange_entry(x, x->count, rank, mem_rank(m));
    struct single_lack theirs = { 0 }, ours = { 0 };

    if (!exchange_small(x, out->bytes))
        theirs = single_told(m, rank, mem_rank(m));
    if (!exchange_small(x, mem_get(m, &entry->payload[EXCHANGE_BYTES])))
        ours = single_told(m, mem_rank(m), rank);
    const struct single_part send = single_cut(out, theirs.from, theirs.end), get = single_cut(in, ours.from, ours.end);
    single_swap(m, x->c, rank, &send, &get);
}

/* The next entry for a rank, which has left the one there; and its block if that is like this one. */
static inline void exchange_claim(const struct exchange *x, int rank, const struct single_part *out)
{
    size_t head = offsetof(mem_flag, payload[EXCHANGE_BLOCK]), block = exchange_small(x, out->bytes) ? out->bytes : 0;

    mem_claim(x->m, exchange_entry(x, x->count + 1, mem_rank(x->m), rank), head + (block < EXCHANGE_CLAIMED ? block : EXCHANGE_CLAIMED));
}

static inline void exchange_own(struct mem *m, const struct single_part *out, const struct single_part *in)
{
    if (!exchange_in_place(out, in))
        mem_move(m, &in->at, &out->at, out->bytes);
}

static inline void exchange_run(struct mem *m, const struct coll *c, exchange_block *sent, exchange_block *got)
{
    int me = mem_rank(m), ranks = mem_size(m);
    size_t place = ranks == 1 ? 0 : single_set(c->slot_bytes, ranks) / (size_t)(ranks - 1) / HUD_LINE * HUD_LINE;
    const struct exchange x = { m, c, mem_get(m, exchange_count(m)) + 1, place };

    mem_put(m, exchange_count(m), x.count);
    for (int k = 1; k < ranks; k++) {
        struct single_part to = sent(c, single_other(m, k)), from = got(c, single_other(m, k));
        exchange_enter(&x, single_other(m, k), &to, &from);
    }
    struct single_part out = sent(c, me), in = got(c, me);
    exchange_own(m, &out, &in);
    for (int k = 1; k < ranks; k++) {
        struct single_part to = sent(c, single_other(m, ranks - k)), from = got(c, single_other(m, ranks - k));
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
