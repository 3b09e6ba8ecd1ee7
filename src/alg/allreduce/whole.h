/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * whole.h - the window of allreduce/whole (whole.c): the fragments of a message, the slice of a
 * fragment that each rank owns, and where contributions and results are.  Pure, except for the
 * address of the window.
 *
 * Shape     A rank's window has two regions, one for its contributions to the others' slices, one
 *           for the result of its own slice.  A fragment has at most p / (p - 1) times as many
 *           bytes as the first region.  At most the rank's share of a shared cache is used of the
 *           window.
 *
 * Small messages are written to changing places in `ring` bytes of the window, so that a message
 * does not use lines that are still in the caches of ranks that read the previous message.
 */
#ifndef HUD_ALG_WHOLE_H
#define HUD_ALG_WHOLE_H

#include "alg/reduction.h"

enum whole_param { WHOLE_BUDGET, WHOLE_RING };

/* A call on one rank, and its current fragment. */
struct whole {
    struct mem *m;
    const struct coll *c;
    uint64_t at, next;                      /* positions of the begin and the end of this
                                               fragment */
    size_t start_bytes, bytes, slice_bytes; /* this fragment's offset in the message, its
                                               bytes, the bytes of a slice */
    size_t max_bytes;                       /* maximum bytes of a fragment */
    size_t cell_bytes;                      /* bytes of the window for one slice */
    size_t ring_bytes;                      /* bytes of the window that small messages use in
                                               turn */
    size_t turn;                            /* this fragment's place in the ring */
};

/* Returns a slice of this fragment.  Its bytes are 0 if the owner has none. */
static inline struct piece whole_slice(const struct whole *w, int owner)
{
    size_t before = (size_t)owner * w->slice_bytes,
           rest = before < w->bytes ? w->bytes - before : 0;

    return (struct piece){ owner, w->start_bytes + before, pieces_min(rest, w->slice_bytes) };
}

/* Returns the address, in a rank's window, of its contribution to another rank's slice.
 * whole_result() returns the address of the result of its own slice. */
static inline void *whole_contribution(const struct whole *w, int rank, int owner)
{
    int ranks = mem_size(w->m);
    size_t before = w->turn * (size_t)(ranks - 1),
           number = (size_t)((owner - rank + ranks) % ranks - 1);

    return (char *)mem_window(w->m, rank) + (before + number) * mem_lines(w->slice_bytes);
}

static inline void *whole_result(const struct whole *w, int rank)
{
    size_t others = (size_t)mem_size(w->m) - 1;

    return (char *)mem_window(w->m, rank) + others * w->cell_bytes +
           w->turn * mem_lines(w->slice_bytes);
}

/* Returns the bytes of the window: as wanted, but at least an element of the maximum size for each
 * rank, and 0 if this does not fit. */
static inline size_t whole_window_bytes(const long *param, int ranks, size_t max_bytes)
{
    size_t min = (size_t)ranks * HUD_ELEMENT_MAX, wanted = (size_t)param[WHOLE_BUDGET],
           enough = wanted < min ? min : wanted,
           bytes = wanted == 0 || enough > max_bytes ? max_bytes : enough;

    return bytes < min ? 0 : bytes / HUD_LINE * HUD_LINE;
}

/* Returns the bytes of the window that are used: at most the rank's share of a shared cache, so
 * contributions are still in the cache when they are read. */
static inline size_t whole_usable(const struct coll *c, size_t ranks)
{
    size_t window = c->place->window_bytes, min = ranks * HUD_ELEMENT_MAX,
           cache = c->cache_bytes > min ? c->cache_bytes : min;

    return c->cache_bytes == 0 || cache > window ? window : cache;
}

/* Returns which of the places in the ring the fragment uses.  Depends only on the position, so all
 * ranks agree, and messages of equal size use the places in turn. */
static inline size_t whole_turn(const struct whole *w)
{
    size_t cell = mem_lines(w->slice_bytes), ranks = (size_t)mem_size(w->m),
           turns = pieces_min(w->ring_bytes / ranks, w->cell_bytes) / cell;

    return turns < 2 ? 0 : (size_t)(w->at / w->bytes % turns);
}

/* Returns the state before the first fragment of a call, at a position. */
static inline struct whole whole_begin(struct mem *m, const struct coll *c, uint64_t at)
{
    size_t ranks = (size_t)mem_size(m), unit = cut_unit(c), window = whole_usable(c, ranks),
           cell = window / ranks / HUD_LINE * HUD_LINE, ring = (size_t)c->param[WHOLE_RING];

    return (struct whole){ .m = m,
                           .c = c,
                           .next = at,
                           .max_bytes = cell / unit * unit * ranks,
                           .cell_bytes = cell,
                           .ring_bytes = ring == 0 ? window : ring };
}

/* Advances to the next fragment.  Returns false if there are no more. */
static inline bool whole_next(struct whole *w)
{
    size_t ranks = (size_t)mem_size(w->m);

    w->start_bytes += w->bytes;
    if (w->start_bytes >= w->c->bytes)
        return false;
    w->bytes = pieces_min(w->c->bytes - w->start_bytes, w->max_bytes);
    w->slice_bytes = cut_round_up((w->bytes + ranks - 1) / ranks, cut_unit(w->c));
    w->at = w->next;
    w->next += w->bytes;
    w->turn = whole_turn(w);
    return true;
}

#endif
