/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gates.h - the gates of sets in bcast/controls: how a set of buffers is opened and left
 * (controls.c).
 *
 * Source    paper 01 (Kurnosov, Tokmasheva), "Segment" and "Algorithm": shm_op, shm_nreaders.
 * Shape     counters: the root opens a set, the others wait for that and count themselves as they
 *           leave it.  An operation begins with a set of its own.  lines: each rank acknowledges in
 *           a line of its own, and the root awaits all of these.
 * Cost      counters: p - 1 additions to one line for a set.
 *
 * Line                      written by    read by     value k means
 *   slot[0].open[set]       any root      all others  counters: it has been used k times, the last
 *                                                     by the operation under way; with it, bytes of
 *                                                     the message still to come
 *   slot[0].readers[set]    all, add 1    any root    counters: others have left it k times
 *   slot[r].acknowledged    r             any root    lines: see bcast.c
 *
 * Edges     R2 -> A2   a rank's last read of a set  happens before  any root's or parent's next
 *                      write to it, or to the words of its fragments
 *           R3 -> A3   a root's note of what is to come  happens before  the readers' look at it
 *
 * Safety
 *   1. lines: as bcast.c.
 *   2. counters: a use of a set has one root, and the p - 1 others add once.
 */
#ifndef HUD_ALG_GATES_H
#define HUD_ALG_GATES_H

#include "alg/queue/queue.h"

enum controls_param {
    CONTROLS_FRAGMENT,
    CONTROLS_BUFFERS,
    CONTROLS_SETS,
    CONTROLS_TREE,
    CONTROLS_DEGREE,
    CONTROLS_NOTIFY,
    CONTROLS_GATE
};
enum gates { GATES_COUNTERS, GATES_LINES };

/* A rank's broadcast. */
struct controls {
    struct mem *m;
    const struct coll *c;
    struct shape_ring ring;
    struct ring_place at;
    bool root;
    size_t left; /* counters: bytes of the message still to come */
};

/* The lines of the gates, behind the words. */
static inline size_t gates_bytes(const long *param)
{
    return 2 * (size_t)param[CONTROLS_SETS] * sizeof(mem_flag);
}

static inline bool gates_count(const struct controls *w)
{
    return w->c->param[CONTROLS_GATE] == GATES_COUNTERS;
}

/* shm_op of the set of this place. */
static inline mem_flag *gates_open(const struct controls *w, uint64_t at)
{
    struct queue_slot *home = mem_slot(w->m, 0);

    return &home->word[w->ring.units + at % w->ring.units / w->ring.set_units];
}

/* shm_nreaders of the same. */
static inline mem_flag *gates_readers(const struct controls *w, uint64_t at)
{
    return gates_open(w, at) + w->c->param[CONTROLS_SETS];
}

/* Before the first fragment of a set. */
static inline void gates_enter(struct controls *w, size_t done)
{
    uint64_t uses = w->at.at / w->ring.units,
             acknowledged = ring_must_be_acknowledged(&w->ring, w->at.at);
    mem_flag *open = gates_open(w, w->at.at);
    bool counters = gates_count(w);
    struct mem *m = w->m;

    if (w->root && counters) {
        mem_await(m, gates_readers(w, w->at.at), uses * (uint64_t)(mem_size(m) - 1)); /* A2 */
        mem_put(m, open->payload, w->c->out->bytes - done);
        mem_post(m, open, uses + 1); /* R3 */
    } else if (counters) {
        mem_await(m, open, uses + 1); /* A3 */
        w->left = mem_get(m, open->payload);
    }
    for (int r = 0; w->root && !counters && acknowledged != 0 && r < mem_size(m); r++) {
        struct queue_slot *other = mem_slot(m, r);
        if (r != mem_rank(m))
            mem_await(m, &other->acknowledged, acknowledged); /* A2 */
    }
}

/* After a fragment, that begins here and was the last of its set or, with counters, of all. */
static inline void gates_leave(const struct controls *w, uint64_t at)
{
    struct queue_slot *mine = mem_slot(w->m, mem_rank(w->m));

    if (!gates_count(w))
        mem_post(w->m, &mine->acknowledged, w->at.at); /* R2 */
    else if (!w->root)
        mem_add(w->m, gates_readers(w, at), 1); /* R2 */
}

#endif
