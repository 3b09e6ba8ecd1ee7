/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * single_direct.h - reductions by single copy, straight: an owner pulls pieces of the others'
 * contributions into its box, reduces them with its own, in rank order, and pushes the result,
 * which still lies in its caches, to whom it is for.  At the first copy that does not come off it
 * stops.
 */
#ifndef HUD_ALG_SINGLE_DIRECT_H
#define HUD_ALG_SINGLE_DIRECT_H

#include "alg/single_job.h"
#include "alg/sources.h"

enum {
    DIRECT_PIECES = 8
}; /* most that a box is cut into, and so most that are pulled before they are reduced */

static inline int direct_pieces(const struct job *j)
{
    int fit = (int)(2 * single_half(j->c->slot_bytes, mem_size(j->m)) / SINGLE_MIN),
        max = fit < DIRECT_PIECES ? fit : DIRECT_PIECES;

    return mem_size(j->m) < max ? mem_size(j->m) : max;
}

static inline size_t direct_piece_bytes(const struct job *j)
{
    return 2 * single_half(j->c->slot_bytes, mem_size(j->m)) / (size_t)direct_pieces(j) / HUD_LINE *
           HUD_LINE;
}

/* Another rank's contribution, into the i-th piece of the box.  False: not all of it came. */
static inline bool direct_pull(const struct job *j, int rank, size_t at, size_t bytes, int i,
                               struct mem_span *source)
{
    struct single_place from = single_meet(j->m, j->c, rank);

    *source = job_box(j, mem_rank(j->m));
    source->shared = (char *)source->shared + (size_t)i * direct_piece_bytes(j);
    return from.in != 0 && mem_pull(j->m, source, rank, from.in, at, bytes) == bytes;
}

/* Reduces all contributions to some bytes; what is reduced before all have been pulled lies in the
 * first piece.  False: one could not be pulled. */
static inline bool direct_reduce(const struct job *j, size_t at, size_t bytes,
                                 const struct mem_span *to)
{
    struct mem_span sum = job_box(j, mem_rank(j->m)), source;
    struct sources all;

    sources_begin(&all, j->m, j->c, &sum, bytes);
    for (int rank = 0; rank < mem_size(j->m); rank++) {
        if (all.count == direct_pieces(j))
            sources_fold(&all);
        if (rank == mem_rank(j->m))
            source = job_in(j, at);
        else if (!direct_pull(j, rank, at, bytes, all.count, &source))
            return false;
        sources_add(&all, source);
    }
    sources_reduce(&all, to, NULL);
    return true;
}

/* True: all whom the result is for have it. */
static inline bool direct_push(const struct job *j, size_t at, size_t bytes,
                               const struct mem_span *result)
{
    bool good = true;

    for (int k = 1; good && k < mem_size(j->m); k++) {
        int rank = single_other(j->m, k);
        if (!j->gets(j->c, rank, mem_rank(j->m)))
            continue;
        uint64_t to = single_meet(j->m, j->c, rank).out;
        bool reached = to != 0 && (result->shared || mem_expose(j->m, result->view) != 0);
        good = reached && mem_push(j->m, result, rank, to, at, bytes) == bytes;
    }
    return good;
}

/* The own slice, as far as that goes: results lack from byte `from` on, and those up to `end` lie
 * in the box. */
static inline struct single_lack direct_run(const struct job *j)
{
    int me = mem_rank(j->m);
    size_t at = job_start(j, me), end = job_start(j, me + 1),
           max = job_elements(j, direct_piece_bytes(j));
    struct mem_span box = job_box(j, me);

    for (size_t n; at < end; at += n) {
        struct mem_span result = j->gets(j->c, me, me) ? job_out(j, at) : box;
        n = end - at < max ? end - at : max;
        if (!direct_reduce(j, at, n, &result))
            break;
        if (direct_push(j, at, n, &result))
            continue;
        if (!result.shared)
            mem_move(j->m, &box, &result, n);
        return (struct single_lack){ at, at + n };
    }
    return (struct single_lack){ at, at };
}

#endif
