/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * running.h - the running sums of some bytes of a slice, in its owner's bounce buffer (scan.c,
 * missing.h): piece i of the buffer gets the sum of ranks 0 ... i.
 *
 * Cost      p - 1 reductions of two sources, one after the other, in the owner's caches
 */
#ifndef HUD_ALG_RUNNING_H
#define HUD_ALG_RUNNING_H

#include "alg/single_copy/slice.h"

/* The rank of the last sum that any rank gets. */
static inline int running_last(const struct reduction *r)
{
    return mem_size(r->m) - (r->sums == SUMS_BEFORE ? 2 : 1);
}

/* The sum of rank 0 alone: its contribution. */
static inline struct mem_span running_first(const struct reduction *r, size_t at)
{
    return mem_rank(r->m) == 0 ? slice_in(r, at) : slice_piece(r, mem_rank(r->m), 0);
}

/*
 * The sums of ranks from 1 on, where that of rank 0 is `first`.  The other ranks' contributions are
 * in the pieces where their sums go; or, bounced, in those ranks' bounce buffers.
 */
static inline void running_make(const struct reduction *r, size_t at, size_t bytes,
                                const struct mem_span *first, bool bounced)
{
    int me = mem_rank(r->m);
    struct mem_span before = *first;

    for (int rank = 1; rank <= running_last(r); rank++) {
        const struct mem_span piece = slice_piece(r, me, rank);
        struct sources sum;
        sources_begin(&sum, r->m, r->c, &piece, bytes);
        sources_add(&sum, before);
        sources_add(&sum, rank != me && !bounced ? piece : slice_contribution(r, rank, at));
        sources_reduce(&sum, &piece, NULL);
        before = piece;
    }
}

/* All sums, of contributions that went through the bounce buffers. */
static inline void running_make_bounced(const struct reduction *r, size_t at, size_t bytes)
{
    const struct mem_span first = slice_piece(r, mem_rank(r->m), 0),
                          contribution = slice_contribution(r, 0, at);

    mem_move(r->m, &first, &contribution, bytes);
    running_make(r, at, bytes, &first, true);
}

#endif
