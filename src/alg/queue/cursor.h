/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cursor.h - shared by the reductions of the family (queue.h): a cursor through the fragments of a
 * message, and the acknowledgement of sets.
 *
 * A reduction cuts the message at whole elements.  All ranks cut in the same way, so a fragment has
 * the same position in every rank's queue.
 *
 * Edges     R1 -> A1   a rank's last read of a set  happens before  the others' next write to it
 *
 * Not needed
 *   R1, A1 by allreduce/tree: a sum arrives only after its writer has copied out the result
 *   that was there before, and all sums come together in rank 0's queue (allreduce_tree.c,
 *   `free_until`)
 *
 * Safety    A rank that writes before `free_until` does not wait.  For a later position, it first
 *           waits until all others have acknowledged the set's old contents.
 */
#ifndef HUD_ALG_CURSOR_H
#define HUD_ALG_CURSOR_H

#include "alg/queue/queue.h"

/* The position of a rank in the fragments of a call.  All ranks cut the call in the same way. */
struct cursor {
    struct ring_place at;
    size_t done, bytes; /* bytes before the current fragment; bytes of the fragment */
    uint64_t units;     /* units of the fragment */
};

/* Computes the fragment that begins at the cursor, with at most f units. */
ALG_INLINE void cursor_cut(const struct coll *c, uint64_t f, struct cursor *w)
{
    size_t rest = c->bytes - w->done, element = c->reduction->element_bytes;

    w->units = ring_part(w->at.set_left, f, ring_units_of(rest));
    w->bytes = rest <= w->units * RING_UNIT ? rest : w->units * RING_UNIT / element * element;
}

ALG_INLINE struct cursor cursor_begin(const struct coll *c, const struct shape_ring *ring,
                                      uint64_t f, uint64_t at)
{
    struct cursor w = { .at = ring_place_of(ring, at) };

    cursor_cut(c, f, &w);
    return w;
}

static inline bool cursor_at_end(const struct coll *c, const struct cursor *w)
{
    return w->done == c->bytes;
}

static inline uint64_t cursor_end(const struct cursor *w)
{
    return w->at.at + w->units;
}

ALG_INLINE void cursor_advance(const struct coll *c, const struct shape_ring *ring, uint64_t f,
                               struct cursor *w)
{
    ring_move(ring, &w->at, w->units);
    w->done += w->bytes;
    if (!cursor_at_end(c, w))
        cursor_cut(c, f, w);
}

/* Waits until all others have acknowledged the old contents of the set at this place.  Returns the
 * end of the set. */
ALG_INLINE uint64_t queue_await_free(struct mem *m, const struct shape_ring *ring,
                                     const struct ring_place *at)
{
    uint64_t end = at->at + at->set_left,
             acknowledged = ring_must_be_acknowledged(ring, end - ring->set_units);

    for (int r = 0; acknowledged != 0 && r < mem_size(m); r++) {
        struct queue_slot *other = mem_slot(m, r);
        if (r != mem_rank(m))
            mem_await(m, &other->acknowledged, acknowledged); /* A1 */
    }
    return end;
}

/* Acknowledges a set, if this rank has reached its end: the rank has read everything before this
 * place. */
ALG_INLINE void queue_acknowledge(struct mem *m, const struct shape_ring *ring,
                                  const struct ring_place *at)
{
    struct queue_slot *mine = mem_slot(m, mem_rank(m));

    if (ring_begins_set(ring, at))
        mem_post(m, &mine->acknowledged, at->at); /* R1 */
}

/* Prefetches the lines of the next contribution and its word.  Prefetching more than the limit
 * costs more than it saves. */
static inline void queue_prefetch(struct mem *m, const struct coll *c, const struct ring_place *at)
{
    enum { LIMIT_BYTES = 8 << 10 };
    struct queue_slot *mine = mem_slot(m, mem_rank(m));
    size_t set = at->set_left * RING_UNIT, max = set < LIMIT_BYTES ? set : LIMIT_BYTES;

    mem_prefetch_own(m, &mine->word[at->unit], 1);
    mem_prefetch_own(m, queue_data(m, mem_rank(m), at), c->bytes < max ? c->bytes : max);
}

#endif
