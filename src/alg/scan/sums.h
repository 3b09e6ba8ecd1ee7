/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sums.h - the running sums of a piece, which its owner makes (slices.c): of each rank's
 * contribution and those of the ranks before it, where that contribution was.
 *
 * Shape     A rank's window has two sets of cells, in each one for every owner's piece.  The owner
 *           goes through the ranks in order: the sum of a rank is that of the rank before it and
 *           its contribution.  Its own contribution stays in `in` until then.
 * Cost      p reductions of two sources, one after the other
 */
#ifndef HUD_ALG_SUMS_H
#define HUD_ALG_SUMS_H

#include "alg/reduction.h"

/* On one rank. */
struct sums {
    struct mem *m;
    const struct coll *c;
    struct pieces cut;
    struct pieces_place now;
    int me, ranks;
    bool exclusive;
};

/* In a rank's window: its contribution to a piece, then the sum of the ranks up to it. */
static inline struct mem_span sums_cell(const struct sums *s, int rank, const struct piece *piece)
{
    return (struct mem_span){ .shared = (char *)mem_window(s->m, rank) +
                                        pieces_at(&s->cut, &s->now, piece) };
}

/*
 * The sum of the ranks up to `rank`, from that of the ranks before it, into that rank's cell; for
 * the owner also into its `out`, if it is its result.  The last sum goes there only.
 */
static inline void sums_add_rank(const struct sums *s, const struct piece *piece, int rank)
{
    const struct mem_span cell = sums_cell(s, rank, piece),
                          own = { .view = s->c->in, .offset_bytes = piece->offset_bytes },
                          out = { .view = s->c->out, .offset_bytes = piece->offset_bytes };
    bool mine = rank == s->me, result = mine && !s->exclusive, last = rank == s->ranks - 1;
    struct sources sum;

    sources_begin(&sum, s->m, s->c, &cell, piece->bytes);
    if (rank > 0)
        sources_add(&sum, sums_cell(s, rank - 1, piece));
    sources_add(&sum, mine ? own : cell);
    sources_reduce(&sum, result && last ? &out : &cell, result && !last ? &out : NULL);
}

/* The running sums of its own piece.  What it begins with is there, unless it is its own. */
static inline void sums_make(const struct sums *s, const struct piece *piece)
{
    for (int r = s->me == 0 ? 0 : 1; r < s->ranks - (s->exclusive ? 1 : 0); r++)
        sums_add_rank(s, piece, r);
    if (s->exclusive && s->me > 0)
        mem_out(s->m, s->c->out, sums_cell(s, s->me - 1, piece).shared, piece->offset_bytes,
                piece->bytes);
}

#endif
