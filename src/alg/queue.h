/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * queue.h - a queue of buffers in a rank's slice (paper 01, "Segment"): lines, then data.  The
 * broadcasts by queues have it, and the reductions that walk (walk.h).  How it is used, and the
 * edges, are theirs.
 */
#ifndef HUD_ALG_QUEUE_H
#define HUD_ALG_QUEUE_H

#include "alg/fragment.h"

enum {
    QUEUE_RATIO = 2560
}; /* t_w / t, bytes; 230 ns / 0.09 ns, measured with a line transfer of 120 ns */

struct queue_slot {
    mem_flag left;
    _Alignas(HUD_LINE) uint64_t at; /* plain: the owner's position */
    uint64_t entered; /* plain: the end of the last set that the owner has made sure is free */
    mem_flag word[];  /* [units]: a fragment has come, its payload the notice; then the data */
};

/* The ring of a slot that queue_bytes has sized. */
static inline struct shape_ring queue_ring(size_t slot_bytes, long sets)
{
    return ring_make(slot_bytes - sizeof(struct queue_slot), sizeof(mem_flag), 0, (uint64_t)sets);
}

/* Exactly what is used, so that the slot and q tell the ring, whatever a call's f; 0: no room. */
static inline size_t queue_bytes(const struct ring_wish *wish, long sets, size_t max_bytes)
{
    size_t room = max_bytes > sizeof(struct queue_slot) ? max_bytes - sizeof(struct queue_slot) : 0;
    struct shape_ring ring = ring_make(
        room, sizeof(mem_flag), ring_wanted(wish, (uint64_t)sets, QUEUE_RATIO), (uint64_t)sets);

    return ring.units == 0
               ? 0
               : sizeof(struct queue_slot) + ring.units * (sizeof(mem_flag) + RING_UNIT);
}

static inline char *queue_data(struct queue_slot *slot, const struct shape_ring *ring,
                               const struct ring_place *at)
{
    return (char *)&slot->word[ring->units] + at->unit * RING_UNIT;
}

/* Copies the next fragment, of at most f units, into the caller's own queue.  Returns its notice.
 * */
static inline uint64_t queue_copy_in(struct mem *m, const struct coll *c,
                                     const struct shape_ring *ring, const struct ring_place *at,
                                     uint64_t f, size_t sent)
{
    size_t max = ring_part(at->set_left, f, ring_units_of(c->buf.bytes - sent)) * RING_UNIT;

    return fragment_in(m, c, queue_data(mem_slot(m, mem_rank(m)), ring, at), sent, max);
}

#endif
