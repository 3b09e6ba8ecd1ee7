/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * whole.h - the window of allreduce/whole (whole.c): the fragments of a message, the slice of a
 * fragment that each rank owns, and where contributions and results are.  Pure but for the window's
 * address.
 *
 * Shape     A rank's window has two regions, one for what it contributes to the others' slices, one
 *           for the result of its own.  A fragment has at most p / (p - 1) times the bytes of the
 *           first one.  No more of the window is used than the rank has of a shared cache.
 *
 * What small messages write goes round in `ring` bytes of the window, so that it does not lie in
 * caches of ranks that read the one before.
 */
#ifndef HUD_ALG_WHOLE_H
#define HUD_ALG_WHOLE_H

#include "alg/reduction.h"

enum whole_param { WHOLE_BUDGET, WHOLE_RING };

/* A call on one rank, and its fragment. */
struct whole {
    struct mem *m;
    const struct coll *c;
    uint64_t at, next;                      /* positions where this fragment begins and ends */
    size_t start_bytes, bytes, slice_bytes; /* of it: in the message, all, of a slice */
    size_t max_bytes;                       /* of a fragment */
    size_t cell_bytes;                      /* of the window, what is for one slice at most */
    size_t ring_bytes;                      /* of the window, what small messages go round in */
    size_t turn;                            /* of this fragment, of those that the ring has */
};

/* A slice of this fragment; bytes 0: it has none. */
static inline struct piece whole_slice(const struct whole *w, int owner)
{
    size_t before = (size_t)owner * w->slice_bytes,
           rest = before < w->bytes ? w->bytes - before : 0;

    return (struct piece){ owner, w->start_bytes + before, pieces_min(rest, w->slice_bytes) };
}

/* In a rank's window: what it contributes to another's slice, and the result of its own. */
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

/* An element of the maximum size for each rank, at least. */
static inline size_t whole_window_bytes(const long *param, int ranks, size_t max_bytes)
{
    size_t min = (size_t)ranks * HUD_ELEMENT_MAX, wanted = (size_t)param[WHOLE_BUDGET],
           enough = wanted < min ? min : wanted,
           bytes = wanted == 0 || enough > max_bytes ? max_bytes : enough;

    return bytes < min ? 0 : bytes / HUD_LINE * HUD_LINE;
}

/* Of the window: no more than the rank has of a shared cache, so that contributions are still there
 * when they are read. */
static inline size_t whole_usable(const struct coll *c, size_t ranks)
{
    size_t window = c->place->window_bytes, min = ranks * HUD_ELEMENT_MAX,
           cache = c->cache_bytes > min ? c->cache_bytes : min;

    return c->cache_bytes == 0 || cache > window ? window : cache;
}

/* Which of the cells that the ring has, by the position only: all ranks agree, and messages of one
 * size take turns. */
static inline size_t whole_turn(const struct whole *w)
{
    size_t cell = mem_lines(w->slice_bytes), ranks = (size_t)mem_size(w->m),
           turns = pieces_min(w->ring_bytes / ranks, w->cell_bytes) / cell;

    return turns < 2 ? 0 : (size_t)(w->at / w->bytes % turns);
}

/* Before the first fragment of a call, at a position. */
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

/* The next fragment; false: that was the last one. */
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
