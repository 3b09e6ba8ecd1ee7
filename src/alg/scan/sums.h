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
struct prefix {
    struct mem *m;
    const struct coll *c;
    struct pieces cut;
    struct pieces_place now;
    int me, ranks;
    bool exclusive;
};

/* In a rank's window: its contribution to a piece, then the sum of the ranks up to it. */
static inline struct mem_span sums_cell(const struct prefix *p, int rank, const struct piece *piece)
{
    return (struct mem_span){ .shared = (char *)mem_window(p->m, rank) +
                                        pieces_at(&p->cut, &p->now, piece) };
}

/*
 * The sum of the ranks up to `rank`, from that of the ranks before it, into that rank's cell; for
 * the owner also into its `out`, if it is its result.  The last sum goes there only.
 */
static inline void sums_add_rank(const struct prefix *p, const struct piece *piece, int rank)
{
    const struct mem_span cell = sums_cell(p, rank, piece),
                          own = { .view = p->c->in, .offset_bytes = piece->offset_bytes },
                          out = { .view = p->c->out, .offset_bytes = piece->offset_bytes };
    bool mine = rank == p->me, result = mine && !p->exclusive, last = rank == p->ranks - 1;
    struct sources sum;

    sources_begin(&sum, p->m, p->c, &cell, piece->bytes);
    if (rank > 0)
        sources_add(&sum, sums_cell(p, rank - 1, piece));
    sources_add(&sum, mine ? own : cell);
    sources_reduce(&sum, result && last ? &out : &cell, result && !last ? &out : NULL);
}

/* The running sums of its own piece.  What it begins with is there, unless it is its own. */
static inline void sums_make(const struct prefix *p, const struct piece *piece)
{
    for (int r = p->me == 0 ? 0 : 1; r < p->ranks - (p->exclusive ? 1 : 0); r++)
        sums_add_rank(p, piece, r);
    if (p->exclusive && p->me > 0)
        mem_out(p->m, p->c->out, sums_cell(p, p->me - 1, piece).shared, piece->offset_bytes,
                piece->bytes);
}

#endif
