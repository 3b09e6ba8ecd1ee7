/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * queue.h - the family of queues: a queue of buffers in each rank's slice (paper 01, "Segment").
 * Here: the slot, the ring, and for reductions a cursor through the fragments of a message and the
 * acknowledgement of sets.  The collectives: bcast.c (bcast/queue), levels.c (bcast/levels),
 * exchange.c (allreduce/exchange, reduce_scatter/exchange), gather.c (reduce/gather), tree.c
 * (allreduce/tree, reduce/tree).
 *
 * The slot has lines only.  The buffers are in the window (mem_window).  A small one, or the only
 * large one of a team, is the slot's own.  Otherwise it is the team's window, which the algorithms
 * for large messages use in turn: window.c orders their calls.
 *
 * Positions (shape/ring.h) count over all operations of a slot.  A reduction cuts the message at
 * whole elements; a fragment has the same position in every rank's queue.
 *
 * Line                          written by  read by     value k means
 *   slot[r].word[k % units]     r           its users   see there
 *   slot[r].acknowledged        r           all others  r reads nothing before position k any more,
 *                                                       in no queue
 *   slot[r].at, .free_until     r           r           (plain) r's position; nobody reads any more
 *                                                       what r's queue held up to `free_until`
 *
 * Edges     R1 -> A1   a rank's last read of a set  happens before  the others' next write to it
 *                      (reductions; the broadcasts label their own)
 *
 * Not needed
 *   R1, A1 by bcast/queue, bcast/levels, bcast/controls: they label acknowledgements of their own
 *   R1, A1 by allreduce/tree: a sum comes only when its writer has copied out the result that was
 *   in its place before, and all sums come together in rank 0's queue (tree.c, `free_until`)
 *
 * Safety    A rank that writes up to `free_until` does not wait.  Beyond it, it first awaits that
 *           all others have acknowledged what the set held.
 */
#ifndef HUD_ALG_QUEUE_H
#define HUD_ALG_QUEUE_H

#include "alg/fragment.h"

/* t_w / t, bytes: what a notification takes by what a byte takes to copy, as measured. */
enum { QUEUE_RATIO = 2560 };

struct queue_slot {
    mem_flag acknowledged;
    _Alignas(HUD_LINE) uint64_t at; /* plain: the owner's position */
    uint64_t free_until; /* plain: the end of the last set that the owner has made sure is free */
    mem_flag word[];     /* [units]: a fragment has come, its payload the header */
};

/* The ring in a window that queue_window_bytes has sized. */
static inline struct shape_ring queue_ring(const struct coll *c, long sets)
{
    return ring_cut(c->place->window_bytes / RING_UNIT, 0, (uint64_t)sets);
}

/* Exactly what is used, so that the window and q determine the ring, whatever f is; 0: no room. */
static inline size_t queue_window_bytes(const struct ring_wish *wish, long sets, size_t max_bytes)
{
    struct shape_ring ring = ring_cut(
        max_bytes / RING_UNIT, ring_wanted(wish, (uint64_t)sets, QUEUE_RATIO), (uint64_t)sets);

    return ring.units * RING_UNIT;
}

static inline size_t queue_lines_bytes(const long *param, int ranks, size_t window_bytes)
{
    (void)param, (void)ranks;
    return sizeof(struct queue_slot) + window_bytes / RING_UNIT * sizeof(mem_flag);
}

static inline char *queue_data(struct mem *m, int rank, const struct ring_place *at)
{
    return (char *)mem_window(m, rank) + at->unit * RING_UNIT;
}

/* Copies the next fragment, of at most f units, into the caller's own queue.  Returns its
 * header. */
static inline uint64_t queue_copy_in(struct mem *m, const struct coll *c,
                                     const struct ring_place *at, uint64_t f, size_t sent)
{
    size_t max = ring_part(at->set_left, f, ring_units_of(c->out->bytes - sent)) * RING_UNIT;

    return fragment_copy_in(m, c, queue_data(m, mem_rank(m), at), sent, max);
}

/* Where a rank is in the fragments of a call; all ranks make the same cuts. */
struct cursor {
    struct ring_place at;
    size_t done, bytes; /* before the fragment that begins here, and of it */
    uint64_t units;     /* of it */
};

/* The fragment that begins where the cursor is: f units at most. */
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

/* Waits until all others have acknowledged what the set of this place held.  Returns its end. */
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

/* This rank has read all before this place. */
ALG_INLINE void queue_acknowledge(struct mem *m, const struct shape_ring *ring,
                                  const struct ring_place *at)
{
    struct queue_slot *mine = mem_slot(m, mem_rank(m));

    if (ring_begins_set(ring, at))
        mem_post(m, &mine->acknowledged, at->at); /* R1 */
}

/* The lines of the next contribution and its word.  Above the limit it costs more than it saves. */
static inline void queue_prefetch(struct mem *m, const struct coll *c, const struct ring_place *at)
{
    enum { LIMIT_BYTES = 8 << 10 };
    struct queue_slot *mine = mem_slot(m, mem_rank(m));
    size_t set = at->set_left * RING_UNIT, max = set < LIMIT_BYTES ? set : LIMIT_BYTES;

    mem_prefetch_own(m, &mine->word[at->unit], 1);
    mem_prefetch_own(m, queue_data(m, mem_rank(m), at), c->bytes < max ? c->bytes : max);
}

/* Of a queue of so many bytes, or, 0, as there is room for. */
static inline size_t queue_budget_bytes(long budget_bytes, long sets, size_t max_bytes)
{
    struct ring_wish wish = { .budget = (uint64_t)budget_bytes };

    return queue_window_bytes(&wish, sets, max_bytes);
}

#endif
