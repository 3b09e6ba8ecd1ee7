/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * inline_exchange.h - the family of inline exchanges: what a rank sends is behind one flag, the
 * first bytes in the flag's own line.  Here: the slot.  The collectives: alltoall.c
 * (alltoall/inline), allgather.c (allgather/inline).
 *
 * Two sets in turn: the rank that writes the set of operation k has seen all flags of k - 1, whose
 * owners had left operation k - 2.  In every collective each rank awaits every other, so calls of
 * the family may follow each other in any order.
 *
 * A flag's value is the operation and the bytes of a block.  So a rank that has counted otherwise
 * is noticed without another load: what it has sent is then taken as it has laid it out.
 */
#ifndef HUD_ALG_INLINE_EXCHANGE_H
#define HUD_ALG_INLINE_EXCHANGE_H

#include "alg/block.h"

enum {
    INLINE_HEAD = offsetof(mem_flag, payload),
    INLINE_BYTES = 24,         /* bits of a value that are the bytes of a block */
    INLINE_PREFETCH_MAX = 8192 /* bytes, for the next operation */
};

static inline size_t inline_set_bytes(size_t slot_bytes)
{
    return slot_bytes / 2 / HUD_LINE * HUD_LINE;
}

/* Bytes behind the flag of a set. */
static inline size_t inline_room(const struct coll *c)
{
    return inline_set_bytes(c->place->slot_bytes) - INLINE_HEAD;
}

/* The minimum of a flag in this operation; the bytes come on top. */
static inline uint64_t inline_value(const struct coll *c)
{
    return c->op << INLINE_BYTES;
}

/* Where the set of this operation is in each slot. */
static inline size_t inline_at(const struct coll *c)
{
    return c->op % 2 * inline_set_bytes(c->place->slot_bytes);
}

/* A rank's set there. */
static inline mem_flag *inline_set(struct mem *m, size_t at, int rank)
{
    return (mem_flag *)((char *)mem_slot(m, rank) + at);
}

/* The set of the next operation, which will hold as much as this one's: bytes behind its flag. */
static inline void inline_prefetch(struct mem *m, const struct coll *c, size_t bytes)
{
    size_t all = INLINE_HEAD + bytes, next = inline_set_bytes(c->place->slot_bytes) - inline_at(c);

    mem_prefetch_own(m, inline_set(m, next, mem_rank(m)),
                     all < INLINE_PREFETCH_MAX ? all : INLINE_PREFETCH_MAX);
}

/* In alltoall.c. */
extern const struct alg_family HUD_BACKEND(inline_exchange_family);

#endif
