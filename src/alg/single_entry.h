/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * single_entry.h - exchanges by single copy, how ranks enter them: each shows each other one where
 * its block for it is, or a small block itself.
 *
 * A small block lies behind its sender's entry, the first bytes in its line.  There are two sets of
 * entries, in turn: whoever sees another's entry to the e-th exchange knows that it has left the
 * one before.  So a small block costs one line transfer, and no word of it comes back; only what is
 * pulled is told of.  Exchanges are counted by themselves: in the family's other operations not all
 * meet all.
 *
 * Line                        written by   read by   value e means
 *   slot[r].set[e % 2][i]     r            i         r has entered the e-th exchange; with it,
 *                                                    where its block for i is, or the block
 *   slot[r].pair[r].here      r            r         (plain) exchanges up to now
 *
 * Edges     R5 -> A5   a copy behind an entry     happens before  the copy out
 *                      an entry                   happens before  the other's use of the view
 *                      a rank's copies out of it  happen before   the next write to that set
 */
#ifndef HUD_ALG_SINGLE_ENTRY_H
#define HUD_ALG_SINGLE_ENTRY_H

#include "alg/single_box.h"

/* The payload of an entry: the block's address, 0: out of reach, or small; where it begins there;
 * its bytes; then the block, if it is small. */
enum { EXCHANGE_IN, EXCHANGE_OFFSET, EXCHANGE_BYTES, EXCHANGE_BLOCK };

enum { EXCHANGE_CLAIMED = 8192 /* bytes that are taken back for the next exchange, at most */ };

struct exchange {
    struct mem *m;
    const struct coll *c;
    uint64_t count;     /* of this exchange */
    size_t place_bytes; /* of an entry and what is behind it */
};

/* Counts this one. */
static inline struct exchange exchange_begin(struct mem *m, const struct coll *c)
{
    int ranks = mem_size(m);
    size_t place =
        ranks == 1 ? 0
                   : single_set(c->slot_bytes, ranks) / (size_t)(ranks - 1) / HUD_LINE * HUD_LINE;
    uint64_t *before = single_pair(m, mem_rank(m), mem_rank(m))->here.payload,
             count = mem_get(m, before) + 1;

    mem_put(m, before, count);
    return (struct exchange){ m, c, count, place };
}

/* A rank's entry to this exchange, or to the one after it, for another. */
static inline mem_flag *exchange_entry(const struct exchange *x, uint64_t count, int owner,
                                       int other)
{
    int place = other < owner ? other : other - 1;

    return (mem_flag *)(single_entries(x->m, x->c, owner, count) + (size_t)place * x->place_bytes);
}

static inline bool exchange_small(const struct exchange *x, size_t bytes)
{
    return bytes <= x->place_bytes - offsetof(mem_flag, payload[EXCHANGE_BLOCK]);
}

static inline bool exchange_in_place(const struct single_part *out, const struct single_part *in)
{
    return (const char *)out->at.view->base + out->at.offset_bytes ==
           (const char *)in->at.view->base + in->at.offset_bytes;
}

static inline void exchange_enter(const struct exchange *x, int rank, const struct single_part *out,
                                  const struct single_part *in)
{
    struct mem *m = x->m;
    mem_flag *entry = exchange_entry(x, x->count, mem_rank(m), rank);
    bool small = exchange_small(x, out->bytes);

    mem_put(m, &entry->payload[EXCHANGE_IN],
            small || exchange_in_place(out, in) ? 0 : mem_expose(m, out->at.view));
    mem_put(m, &entry->payload[EXCHANGE_OFFSET], out->at.offset_bytes);
    mem_put(m, &entry->payload[EXCHANGE_BYTES], out->bytes);
    if (small)
        mem_in_all(m, &entry->payload[EXCHANGE_BLOCK], out->at.view, out->at.offset_bytes,
                   out->bytes);
    mem_post(m, entry, x->count); /* R5 */
}

/* Another rank's entry, awaited. */
static inline struct single_place exchange_meet(const struct exchange *x, mem_flag *entry)
{
    mem_await(x->m, entry, x->count); /* A5 */
    return (struct single_place){ .in = mem_get(x->m, &entry->payload[EXCHANGE_IN]),
                                  .offset_bytes = mem_get(x->m, &entry->payload[EXCHANGE_OFFSET]),
                                  .bytes = mem_get(x->m, &entry->payload[EXCHANGE_BYTES]) };
}

/* The next entry for a rank, which has left the one there; and its block if that is like this one.
 * */
static inline void exchange_claim(const struct exchange *x, int rank, const struct single_part *out)
{
    size_t head = offsetof(mem_flag, payload[EXCHANGE_BLOCK]),
           block = exchange_small(x, out->bytes) ? out->bytes : 0;

    mem_claim(x->m, exchange_entry(x, x->count + 1, mem_rank(x->m), rank),
              head + (block < EXCHANGE_CLAIMED ? block : EXCHANGE_CLAIMED));
}

#endif
