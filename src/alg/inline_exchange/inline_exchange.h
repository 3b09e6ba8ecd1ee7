/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * inline_exchange.h - the family of inline exchanges: the data that a rank sends are behind one
 * flag, the first bytes in the flag's own line.  This file has the slot.  The collectives are in
 * alltoall.c (alltoall/inline) and allgather.c (allgather/inline).
 *
 * A flag's value has the number of the operation and the bytes of a block.  So a rank with a
 * different count is noticed without another load.  Its data are then read in the layout in which
 * it has written them.
 *
 * Deadlock  A rank posts its set before it waits, and waits only for sets of the same operation.
 * Safety    Two sets are used in turn.  The rank that writes the set of operation k has seen all
 *           flags of k - 1, whose owners had left operation k - 2.  In every collective each rank
 *           awaits every other, so calls of the family may follow each other in any order.
 */
#ifndef HUD_ALG_INLINE_EXCHANGE_H
#define HUD_ALG_INLINE_EXCHANGE_H

#include "alg/block.h"

enum {
    INLINE_HEAD = offsetof(mem_flag, payload),
    INLINE_BYTES = 24,         /* number of bits of a value that hold the bytes of a block */
    INLINE_PREFETCH_MAX = 8192 /* maximum bytes prefetched for the next operation */
};

static inline size_t inline_set_bytes(size_t slot_bytes)
{
    return slot_bytes / 2 / HUD_LINE * HUD_LINE;
}

/* Returns the bytes behind the flag of a set. */
static inline size_t inline_room(const struct coll *c)
{
    return inline_set_bytes(c->place->slot_bytes) - INLINE_HEAD;
}

/* Returns the minimum value of a flag in this operation.  The bytes of a block are added to this
 * value. */
static inline uint64_t inline_value(const struct coll *c)
{
    return c->op << INLINE_BYTES;
}

/* Returns the offset of this operation's set in each slot. */
static inline size_t inline_at(const struct coll *c)
{
    return c->op % 2 * inline_set_bytes(c->place->slot_bytes);
}

/* Returns a rank's set at an offset. */
static inline mem_flag *inline_set(struct mem *m, size_t at, int rank)
{
    return (mem_flag *)((char *)mem_slot(m, rank) + at);
}

/* Prefetches the set of the next operation, with `bytes` bytes behind its flag, assuming the same
 * length as now. */
static inline void inline_prefetch(struct mem *m, const struct coll *c, size_t bytes)
{
    size_t all = INLINE_HEAD + bytes, next = inline_set_bytes(c->place->slot_bytes) - inline_at(c);

    mem_prefetch_own(m, inline_set(m, next, mem_rank(m)),
                     all < INLINE_PREFETCH_MAX ? all : INLINE_PREFETCH_MAX);
}

/* Defined in alltoall.c. */
extern const struct alg_family HUD_BACKEND(inline_exchange_family);

#endif
