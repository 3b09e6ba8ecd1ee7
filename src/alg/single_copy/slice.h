/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * slice.h - a reduction of which every rank owns a slice, as one rank sees it (owner.h).
 */
#ifndef HUD_ALG_SLICE_H
#define HUD_ALG_SLICE_H

#include "alg/reduction.h"
#include "alg/single_copy/agree.h"

/* What the ranks get: the same result, or each the sum of the ranks up to it, or before it. */
enum slice_sums { SUMS_NONE, SUMS_UP_TO, SUMS_BEFORE };

/* On one rank. */
struct reduction {
    struct mem *m;
    const struct coll *c;
    /* Where a rank's slice begins; each ends where the next one's begins. */
    size_t (*starts)(const struct coll *c, int ranks, int rank);
    /* The owner has a result for this rank's out. */
    bool (*gets)(const struct coll *c, int rank, int owner);
    bool scatters; /* out is this rank's slice, not all of them */
    enum slice_sums sums;
};

static inline size_t slice_start(const struct reduction *r, int rank)
{
    return r->starts(r->c, mem_size(r->m), rank);
}

/* As many of these bytes as are whole elements. */
static inline size_t whole_elements(const struct reduction *r, size_t bytes)
{
    return bytes - bytes % r->c->reduction->element_bytes;
}

/* This rank's contribution; and where the result goes. */
static inline struct mem_span slice_in(const struct reduction *r, size_t at)
{
    return (struct mem_span){ .view = r->c->in, .offset_bytes = at };
}

static inline struct mem_span slice_out(const struct reduction *r, size_t at)
{
    return (struct mem_span){ .view = r->c->out,
                              .offset_bytes =
                                  at - (r->scatters ? slice_start(r, mem_rank(r->m)) : 0) };
}

static inline struct mem_span slice_bounce(const struct reduction *r, int rank)
{
    return (struct mem_span){ .shared = bounce_at(r->m, r->c, rank, 0) };
}

/* A rank's contribution, where it went through that rank's bounce buffer. */
static inline struct mem_span slice_contribution(const struct reduction *r, int rank, size_t at)
{
    return rank == mem_rank(r->m) ? slice_in(r, at) : slice_bounce(r, rank);
}

/* ---- pieces of a bounce buffer ---- */

/* At most, and so contributions pulled before they are reduced. */
enum { SLICE_PIECES = 8 };

static inline int slice_pieces(const struct reduction *r)
{
    int fit = (int)(2 * single_half(r->c->place->window_bytes) / SINGLE_MIN),
        max = fit < SLICE_PIECES ? fit : SLICE_PIECES;

    return mem_size(r->m) < max ? mem_size(r->m) : max;
}

static inline size_t slice_piece_bytes(const struct reduction *r)
{
    return 2 * single_half(r->c->place->window_bytes) / (size_t)slice_pieces(r) / HUD_LINE *
           HUD_LINE;
}

static inline struct mem_span slice_piece(const struct reduction *r, int rank, int i)
{
    struct mem_span piece = slice_bounce(r, rank);

    piece.shared = (char *)piece.shared + (size_t)i * slice_piece_bytes(r);
    return piece;
}

/* What an owner has for a rank, in its bounce buffer. */
static inline struct mem_span slice_result(const struct reduction *r, int owner, int rank)
{
    return slice_piece(r, owner, r->sums == SUMS_NONE ? 0 : rank - (r->sums == SUMS_BEFORE));
}

#endif
