/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * queue.h - the family of queues: a queue of buffers in each rank's slice (paper 01, "Segment").
 * This file has the slot and the ring.  Reductions also share cursor.h.  The collectives: bcast.c
 * (bcast/queue), levels.c (bcast/levels), exchange.c (allreduce/exchange,
 * reduce_scatter/exchange), gather.c (reduce/gather), allreduce_tree.c, reduce_tree.c.
 *
 * The slot has only lines.  The buffers are in the window (mem_window).  A small window, or the
 * only large window of a team, belongs to the slot.  Otherwise it is the team's window, which the
 * algorithms for large messages use in turn; window.c orders their calls.
 *
 * Positions (shape/ring.h) count over all operations of a slot.
 *
 * Line                          written by  read by     value k means
 *   slot[r].word[k % units]     r           its users   see its users
 *   slot[r].acknowledged        r           all others  r reads nothing before position k any more,
 *                                                       in no queue
 *   slot[r].at, .free_until     r           r           (plain) r's position; r's queue before
 *                                                       `free_until` is not read any more
 *
 * The edges of acknowledgements are in cursor.h for reductions.  Each broadcast has its own.
 */
#ifndef HUD_ALG_QUEUE_H
#define HUD_ALG_QUEUE_H

#include "alg/fragment.h"

/* t_w / t in bytes: the time of a notification divided by the time to copy a byte, as measured. */
enum { QUEUE_RATIO = 2560 };

struct queue_slot {
    mem_flag acknowledged;
    _Alignas(HUD_LINE) uint64_t at; /* plain: the owner's position */
    uint64_t free_until; /* plain: the end of the last set that the owner knows to be free */
    mem_flag word[];     /* [units]: the fragment at the unit has been published; the payload has
                            its header */
};

/* Returns the ring in a window sized by queue_window_bytes(). */
static inline struct shape_ring queue_ring(const struct coll *c, long sets)
{
    return ring_cut(c->place->window_bytes / RING_UNIT, 0, (uint64_t)sets);
}

/* Returns exactly the bytes used, so that the window and q determine the ring, independent of f.
 * Returns 0 if there is no room. */
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

/* Copies the next fragment, of at most f units, into the caller's own queue, and returns its
 * header. */
static inline uint64_t queue_copy_in(struct mem *m, const struct coll *c,
                                     const struct ring_place *at, uint64_t f, size_t sent)
{
    size_t max = ring_part(at->set_left, f, ring_units_of(c->out->bytes - sent)) * RING_UNIT;

    return fragment_copy_in(m, c, queue_data(m, mem_rank(m), at), sent, max);
}

/* Returns the bytes of the window of a queue of budget_bytes bytes, or of as many as fit if
 * budget_bytes is 0. */
static inline size_t queue_budget_bytes(long budget_bytes, long sets, size_t max_bytes)
{
    struct ring_wish wish = { .budget = (uint64_t)budget_bytes };

    return queue_window_bytes(&wish, sets, max_bytes);
}

#endif
