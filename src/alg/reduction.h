/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reduction.h - shared by reductions.
 *
 *   sources        a reduction of any number of sources, in order.  mem_reduce combines as many as
 *                  it can at once, and the result so far is then the first source of the next
 *                  reduction
 *   contribution   a rank's contribution in a flag's line, or in its view
 *   cut            how a reduction is cut into pieces (shape/pieces.h), as its elements and its
 *                  window allow.  Slices (if not given by the call) and pieces are whole elements,
 *                  and whole lines if elements fit lines.  A set of a window has room for at least
 *                  one element of the maximum size.
 */
#ifndef HUD_ALG_REDUCTION_H
#define HUD_ALG_REDUCTION_H

#include "alg/alg.h"
#include "shape/pieces.h"

/* ---- sources ---- */

struct sources {
    struct mem *m;
    const struct hud_op *op;
    /* The place of the result so far, owned by the caller.  Only the first sources may be there. */
    const struct mem_span *sum;
    size_t bytes;
    int count;
    struct mem_span from[MEM_SOURCES];
};

/* Begins a reduction.  Does not clear `from`, because clearing takes longer than reducing a few
 * bytes. */
static inline void sources_begin(struct sources *x, struct mem *m, const struct coll *c,
                                 const struct mem_span *sum, size_t bytes)
{
    x->m = m;
    x->op = c->reduction;
    x->sum = sum;
    x->bytes = bytes;
    x->count = 0;
}

/* Reduces all added sources to `to`, and also to `also` unless `also` is NULL.  `last` is true if
 * no other rank reads the shared sources any more (mem_reduce_as). */
static inline void sources_reduce_as(const struct sources *x, const struct mem_span *to,
                                     const struct mem_span *also, bool last)
{
    mem_reduce_as(x->m, x->op, to, also, x->from, x->count, x->bytes, last);
}

static inline void sources_reduce(const struct sources *x, const struct mem_span *to,
                                  const struct mem_span *also)
{
    sources_reduce_as(x, to, also, false);
}

/* Replaces all added sources by their sum. */
static inline void sources_fold(struct sources *x)
{
    sources_reduce(x, x->sum, NULL);
    x->from[0] = *x->sum;
    x->count = 1;
}

static inline void sources_add(struct sources *x, struct mem_span from)
{
    if (__builtin_expect(x->count == MEM_SOURCES, 0))
        sources_fold(x);
    struct mem_span *to = &x->from[x->count++]; /* copying the struct as a whole would wait for
                                                   the stores of its fields */
    to->shared = from.shared;
    to->view = from.view;
    to->offset_bytes = from.offset_bytes;
}

/* ---- contributions ---- */

enum {
    CONTRIBUTION_GAP = 8,
    CONTRIBUTION_LINE = MEM_PAYLOAD - CONTRIBUTION_GAP
}; /* bytes; operands are aligned to 16 */

/* Reports whether a contribution fits into one line.  Used as `accepts`. */
static inline bool contribution_fits(const struct coll *c, int ranks)
{
    (void)ranks;
    return c->bytes <= CONTRIBUTION_LINE;
}

static inline void *contribution_at(mem_flag *line)
{
    return (char *)line->payload + CONTRIBUTION_GAP;
}

/* Reports whether this rank's contribution can be read from its view.  If not, partial sums are in
 * `out`, which may be `in`, so the contribution is read in shared memory. */
static inline bool contribution_stays(struct mem *m)
{
    return mem_size(m) <= MEM_SOURCES;
}

/*
 * Returns a rank's contribution as a source, which other ranks read at `shared`.  This rank's own
 * contribution is read from the view if possible (contribution_stays), because bytes that others
 * are just fetching are slow to read.
 */
static inline struct mem_span contribution_of(struct mem *m, const struct coll *c, int rank,
                                              void *shared, size_t offset_bytes)
{
    return rank == mem_rank(m) && contribution_stays(m)
               ? (struct mem_span){ .view = c->in, .offset_bytes = offset_bytes }
               : (struct mem_span){ .shared = shared };
}

/* Returns the bytes of a contribution, including its flag. */
static inline size_t contribution_bytes(const struct coll *c)
{
    return offsetof(mem_flag, payload) + CONTRIBUTION_GAP + c->bytes;
}

/* Prefetches the line of the next contribution, assuming the same length as now. */
static inline void contribution_prefetch(struct mem *m, const struct coll *c, const mem_flag *line)
{
    mem_prefetch_own(m, line, contribution_bytes(c));
}

/* Prefetches, before the contribution at `line` is awaited, the same rank's contribution of the
 * next call, at `next`. */
static inline void contribution_expect(struct mem *m, const struct coll *c, mem_flag *line,
                                       mem_flag *next)
{
    mem_prefetch_next(m, line, c->op, next, c->op + 1, contribution_bytes(c));
}

/* ---- pieces ---- */

/* Returns the bytes of a window: as wanted (0: all), but at most as many as fit, and 0 if there is
 * no room. */
static inline size_t cut_window_bytes(uint64_t sets, long wanted, size_t max_bytes)
{
    size_t room = max_bytes / sets, min = HUD_ELEMENT_MAX;
    size_t set = wanted == 0 ? room : (size_t)wanted / sets > min ? (size_t)wanted / sets : min;

    return room < min ? 0 : sets * (pieces_min(set, room) / HUD_LINE * HUD_LINE);
}

static inline size_t cut_round_up(size_t bytes, size_t unit)
{
    return (bytes + unit - 1) / unit * unit;
}

/* Returns the unit of pieces: whole lines if elements fit lines, and else an element. */
static inline size_t cut_unit(const struct coll *c)
{
    size_t element = c->reduction->element_bytes;

    return HUD_LINE % element == 0 ? HUD_LINE : element;
}

/* Returns how a reduction is cut, for a window of cut_window_bytes().  If `blocks` is NULL, slices
 * have equal length.  Pieces have the wanted number of bytes (0: all), but at most as many as a
 * cell holds. */
static inline struct pieces cut_of(const struct coll *c, int count, const size_t *blocks,
                                   uint64_t sets, long wanted)
{
    size_t unit = cut_unit(c), owners = (size_t)count;
    struct pieces s = { .bytes = c->bytes, .blocks = blocks, .count = count, .sets = sets };

    s.block_bytes = cut_round_up((c->bytes + owners - 1) / owners, unit);
    s.set_bytes = c->place->window_bytes / sets / HUD_LINE * HUD_LINE;
    s.at_once = (int)pieces_min(owners, s.set_bytes / mem_lines(unit));
    s.cell_bytes = s.set_bytes / (size_t)s.at_once / HUD_LINE * HUD_LINE;
    s.piece_bytes = s.cell_bytes / unit * unit;
    if (wanted != 0)
        s.piece_bytes = pieces_min(s.piece_bytes, cut_round_up((size_t)wanted, unit));
    return s;
}

#endif
