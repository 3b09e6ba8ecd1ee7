/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * walk.h - a rank's way through the fragments of a reduction, cut at whole elements, each at the
 * same position of every rank's queue (queue.h).
 *
 * Positions (shape/ring.h) count over all operations of a slot.  Whoever is about to write where
 * nobody reads any more, as far as it knows (`entered`), just does; else it makes sure that all
 * others have left what the set held.
 *
 * Line                   written by   read by      value k means
 *   slot[r].left         r            all others   r reads nothing before position k any more, in
 *                                                  no queue
 *   slot[r].at, .entered r            r            (plain) r's position; nobody reads what r's
 *                                                  queue held before, up to `entered`
 *
 * Edges     R1 -> A1   a rank's last read of a set  happens before  the others' next write to it
 */
#ifndef HUD_ALG_WALK_H
#define HUD_ALG_WALK_H

#include "alg/queue.h"

/* A rank's way through the fragments of a call; all ranks make the same cuts. */
struct walk {
    struct ring_place at;
    size_t done, bytes; /* before the fragment that begins here, and of it */
    uint64_t units;     /* of it */
};

/* The fragment that begins where the walk is: f units at most. */
static inline void walk_cut(const struct coll *c, uint64_t f, struct walk *w)
{
    size_t rest = c->bytes - w->done, element = c->reduction->element_bytes;

    w->units = ring_part(w->at.set_left, f, ring_units_of(rest));
    w->bytes = rest <= w->units * RING_UNIT ? rest : w->units * RING_UNIT / element * element;
}

static inline struct walk walk_begin(const struct coll *c, const struct shape_ring *ring,
                                     uint64_t f, uint64_t at)
{
    struct walk w = { .at = ring_place_of(ring, at) };

    walk_cut(c, f, &w);
    return w;
}

static inline bool walk_ended(const struct coll *c, const struct walk *w)
{
    return w->done == c->bytes;
}

static inline uint64_t walk_end(const struct walk *w)
{
    return w->at.at + w->units;
}

static inline void walk_on(const struct coll *c, const struct shape_ring *ring, uint64_t f,
                           struct walk *w)
{
    ring_move(ring, &w->at, w->units);
    w->done += w->bytes;
    if (!walk_ended(c, w))
        walk_cut(c, f, w);
}

/* All others have left what the set of this place held.  Returns where it ends. */
static inline uint64_t walk_enter(struct mem *m, const struct shape_ring *ring,
                                  const struct ring_place *at)
{
    uint64_t end = at->at + at->set_left, left = ring_must_have_left(ring, end - ring->set_units);

    for (int r = 0; left != 0 && r < mem_size(m); r++) {
        struct queue_slot *other = mem_slot(m, r);
        if (r != mem_rank(m))
            mem_await(m, &other->left, left); /* A1 */
    }
    return end;
}

/* This rank has read all before this place. */
static inline void walk_leave(struct mem *m, const struct shape_ring *ring,
                              const struct ring_place *at)
{
    struct queue_slot *mine = mem_slot(m, mem_rank(m));

    if (ring_begins_set(ring, at))
        mem_post(m, &mine->left, at->at); /* R1 */
}

/* The next contribution, and its word, come to these lines.  Above MOST it costs more than it
 * saves. */
static inline void walk_claim(struct mem *m, const struct coll *c, const struct shape_ring *ring,
                              const struct ring_place *at)
{
    enum { MOST = 8 << 10 };
    struct queue_slot *mine = mem_slot(m, mem_rank(m));
    size_t set = at->set_left * RING_UNIT, max = set < MOST ? set : MOST;

    mem_claim(m, &mine->word[at->unit], 1);
    mem_claim(m, queue_data(mine, ring, at), c->bytes < max ? c->bytes : max);
}

/* Of a slot with a queue of so many bytes, or, 0, as the lease holds. */
static inline size_t walk_slot_bytes(long budget_bytes, long sets, size_t max_bytes)
{
    struct ring_wish wish = { .budget = (uint64_t)budget_bytes };

    return queue_bytes(&wish, sets, max_bytes);
}

#endif
