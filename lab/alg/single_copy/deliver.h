/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * deliver.h - the first half of allreduce/cma_write (deliver.c): contributions of a rank to the
 * others' slices, fragment by fragment through its bounce buffer, and their reduction by the
 * owners.  Lines, edges: bounce.h.
 */
#ifndef HUD_ALG_DELIVER_H
#define HUD_ALG_DELIVER_H

#include "alg/reduction.h"
#include "alg/single_copy/bounce.h"

enum { DELIVER_SETS = 2 };

/* A call on one rank. */
struct deliver {
    struct mem *m;
    const struct coll *c;
    struct pieces cut;
};

/* Returns the cell with a rank's contribution to a piece.  The cell of its own piece is unused. */
static inline void *deliver_cell(const struct deliver *d, const struct pieces_place *f, int rank,
                                 const struct piece *piece)
{
    return (char *)mem_window(d->m, rank) + pieces_at(&d->cut, f, piece);
}

/* Waits until the owners have reduced this rank's contributions to the fragment that used this half
 * before. */
static inline void deliver_await_half(const struct deliver *d, const struct pieces_place *f)
{
    for (int k = 1; f->at >= DELIVER_SETS && k < mem_size(d->m); k++)
        bounce_await_acknowledged(d->m, single_other(d->m, k), f->at - DELIVER_SETS);
}

static inline void deliver_contribute(const struct deliver *d, const struct pieces_place *f)
{
    int me = mem_rank(d->m);
    struct piece piece = pieces_before(f);

    deliver_await_half(d, f);
    while (pieces_each(&d->cut, f, &piece))
        if (piece.owner != me)
            mem_in_all(d->m, deliver_cell(d, f, me, &piece), d->c->in, piece.offset_bytes,
                       piece.bytes);
    for (int k = 1; k < mem_size(d->m); k++)
        bounce_post_full(d->m, single_other(d->m, k), f->at);
}

static inline void deliver_reduce_piece(const struct deliver *d, const struct pieces_place *f,
                                        const struct piece *piece)
{
    int me = mem_rank(d->m);
    const struct mem_span own = { .view = d->c->in, .offset_bytes = piece->offset_bytes },
                          out = { .view = d->c->out, .offset_bytes = piece->offset_bytes },
                          cell = { .shared = deliver_cell(d, f, me, piece) };
    struct sources all;

    sources_begin(&all, d->m, d->c, &cell, piece->bytes);
    for (int r = 0; r < mem_size(d->m); r++)
        sources_add(&all,
                    r == me ? own : (struct mem_span){ .shared = deliver_cell(d, f, r, piece) });
    sources_reduce(&all, &out, NULL);
}

/* Reduces this rank's piece of a fragment, and acknowledges the fragment. */
static inline void deliver_reduce(const struct deliver *d, const struct pieces_place *f)
{
    struct piece piece = pieces_before(f);

    for (int k = 1; k < mem_size(d->m); k++)
        bounce_await_full(d->m, single_other(d->m, k), f->at);
    while (pieces_each(&d->cut, f, &piece))
        if (piece.owner == mem_rank(d->m) && piece.bytes != 0)
            deliver_reduce_piece(d, f, &piece);
    for (int k = 1; k < mem_size(d->m); k++)
        bounce_post_acknowledged(d->m, single_other(d->m, k), f->at);
}

#endif
