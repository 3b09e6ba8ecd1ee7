/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reduction.h - what reductions share.
 *
 *   sources        a reduction of any number of sources, in order, as many at once as mem_reduce
 *                  takes: the result so far is the first source of the next
 *   contribution   a rank's contribution in a flag's line, or in its view
 *   cut            how a reduction is cut into pieces (shape/pieces.h), as its elements and its
 *                  window allow.  Slices that no call gives, and pieces, are whole elements,
 *                  and whole lines where elements fit lines.  A set of a window has room for one
 *                  element of the maximum size, at least.
 */
#ifndef HUD_ALG_REDUCTION_H
#define HUD_ALG_REDUCTION_H

#include "alg/alg.h"
#include "shape/pieces.h"

/* ---- sources ---- */

struct sources {
    struct mem *m;
    const struct hud_op *op;
    /* The result so far; of the sources only the first ones may be there.  The caller's. */
    const struct mem_span *sum;
    size_t bytes;
    int count;
    struct mem_span from[MEM_SOURCES];
};

/* Does not clear `from`: that takes longer than to reduce a few bytes. */
static inline void sources_begin(struct sources *x, struct mem *m, const struct coll *c,
                                 const struct mem_span *sum, size_t bytes)
{
    x->m = m;
    x->op = c->reduction;
    x->sum = sum;
    x->bytes = bytes;
    x->count = 0;
}

/* All that have been added, to `to`, and to `also` unless that is NULL. */
static inline void sources_reduce(const struct sources *x, const struct mem_span *to,
                                  const struct mem_span *also)
{
    mem_reduce(x->m, x->op, to, also, x->from, x->count, x->bytes);
}

/* The same; last: nobody else reads the shared ones any more (mem_reduce_last). */
static inline void sources_reduce_of(const struct sources *x, const struct mem_span *to,
                                     const struct mem_span *also, bool last)
{
    if (last)
        mem_reduce_last(x->m, x->op, to, also, x->from, x->count, x->bytes);
    else
        mem_reduce(x->m, x->op, to, also, x->from, x->count, x->bytes);
}

/* Makes one source, the sum, of those that have been added. */
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
    struct mem_span *to = &x->from[x->count++]; /* a copy of the whole would wait for its stores */
    to->shared = from.shared;
    to->view = from.view;
    to->offset_bytes = from.offset_bytes;
}

/* ---- contributions ---- */

enum {
    CONTRIBUTION_GAP = 8,
    CONTRIBUTION_LINE = MEM_PAYLOAD - CONTRIBUTION_GAP
}; /* bytes; what is combined is aligned to 16 */

/* `accepts` of what travels in one line. */
static inline bool contribution_fits(const struct coll *c, int ranks)
{
    (void)ranks;
    return c->bytes <= CONTRIBUTION_LINE;
}

static inline void *contribution_at(mem_flag *line)
{
    return (char *)line->payload + CONTRIBUTION_GAP;
}

/* False: partial sums are in `out`, which may be `in`, so that this rank's contribution, too, has
 * to be read in shared memory. */
static inline bool contribution_stays(struct mem *m)
{
    return mem_size(m) <= MEM_SOURCES;
}

/*
 * A rank's contribution as a source, which others read at `shared`; this rank's from the view if
 * it stays there, as bytes that others fetch at that moment are slow to read.
 */
static inline struct mem_span contribution_of(struct mem *m, const struct coll *c, int rank,
                                              void *shared, size_t offset_bytes)
{
    return rank == mem_rank(m) && contribution_stays(m)
               ? (struct mem_span){ .view = c->in, .offset_bytes = offset_bytes }
               : (struct mem_span){ .shared = shared };
}

/* Bytes of a contribution, from its flag on. */
static inline size_t contribution_bytes(const struct coll *c)
{
    return offsetof(mem_flag, payload) + CONTRIBUTION_GAP + c->bytes;
}

/* The line of the next contribution, if that is as long as this one. */
static inline void contribution_prefetch(struct mem *m, const struct coll *c, const mem_flag *line)
{
    mem_prefetch_own(m, line, contribution_bytes(c));
}

/* Before the contribution at `line` is awaited: the same rank's of the next call is at `next`. */
static inline void contribution_expect(struct mem *m, const struct coll *c, mem_flag *line,
                                       mem_flag *next)
{
    mem_prefetch_next(m, line, c->op, next, c->op + 1, contribution_bytes(c));
}

/* ---- pieces ---- */

/* A window of as many bytes as wanted (0: all) or as fit; 0: no room. */
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

/* Where elements fit lines, pieces are whole lines. */
static inline size_t cut_unit(const struct coll *c)
{
    size_t element = c->reduction->element_bytes;

    return HUD_LINE % element == 0 ? HUD_LINE : element;
}

/* For a window of cut_window_bytes.  blocks NULL: slices alike.  Pieces of so many bytes as wanted
 * (0: all), or as a cell holds. */
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
