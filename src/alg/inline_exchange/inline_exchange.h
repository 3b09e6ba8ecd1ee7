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

/* Of the flag of an operation with blocks of so many bytes.  Without bytes: the minimum. */
static inline uint64_t inline_value(uint64_t op, size_t bytes)
{
    return op << INLINE_BYTES | bytes;
}

static inline size_t inline_value_bytes(uint64_t value)
{
    return value & ((UINT64_C(1) << INLINE_BYTES) - 1);
}

/* A rank's set for an operation. */
static inline mem_flag *inline_set(struct mem *m, const struct coll *c, uint64_t op, int rank)
{
    return (mem_flag *)((char *)mem_slot(m, rank) +
                        op % 2 * inline_set_bytes(c->place->slot_bytes));
}

/* The set of the next operation, which will hold as much as this one's: bytes behind its flag. */
static inline void inline_prefetch(struct mem *m, const struct coll *c, size_t bytes)
{
    size_t all = INLINE_HEAD + bytes;

    mem_prefetch_own(m, inline_set(m, c, c->op + 1, mem_rank(m)),
                     all < INLINE_PREFETCH_MAX ? all : INLINE_PREFETCH_MAX);
}

/* In alltoall.c. */
extern const struct alg_family HUD_BACKEND(inline_exchange_family);

#endif
