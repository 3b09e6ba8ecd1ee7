/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sums.h - the running sums of a piece, which its owner computes (slices.c).  Each rank's
 * contribution is replaced by the sum of the contributions up to this rank.
 *
 * Shape     A rank's window has two sets of cells, and in each a cell for every owner's piece.  The
 *           owner goes through the ranks in order: the sum of a rank is the sum of the rank before
 *           it and its own contribution.  The owner's contribution stays in `in` until then.
 * Cost      p reductions of two sources, one after the other
 */
#ifndef HUD_ALG_SUMS_H
#define HUD_ALG_SUMS_H

#include "alg/reduction.h"

/* A call on one rank. */
struct sums {
    struct mem *m;
    const struct coll *c;
    struct pieces cut;
    struct pieces_place now;
    int me, ranks;
    bool exclusive;
};

/* Returns a cell in a rank's window, with its contribution to a piece, and later the sum of the
 * ranks up to this rank. */
static inline struct mem_span sums_cell(const struct sums *s, int rank, const struct piece *piece)
{
    return (struct mem_span){ .shared = (char *)mem_window(s->m, rank) +
                                        pieces_at(&s->cut, &s->now, piece) };
}

/*
 * Adds rank `rank` to the sum of the ranks before it, and stores the sum in the rank's cell.  If
 * the sum is the owner's own result, stores the sum in `out`, too.  The last sum is stored only in
 * `out`.
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

/* Computes the running sums of this rank's own piece.  The first operand is already in its cell,
 * unless this rank is rank 0. */
static inline void sums_make(const struct sums *s, const struct piece *piece)
{
    for (int r = s->me == 0 ? 0 : 1; r < s->ranks - (s->exclusive ? 1 : 0); r++)
        sums_add_rank(s, piece, r);
    if (s->exclusive && s->me > 0)
        mem_out(s->m, s->c->out, sums_cell(s, s->me - 1, piece).shared, piece->offset_bytes,
                piece->bytes);
}

#endif
