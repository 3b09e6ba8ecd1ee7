/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * single_turns.h - reductions by single copy, in turns: what is lacking of all slices, when all
 * have stopped or are through.  Who owns it reduces what the others have put into their boxes, a
 * fragment at a time, and all take the result from its box.
 */
#ifndef HUD_ALG_SINGLE_TURNS_H
#define HUD_ALG_SINGLE_TURNS_H

#include "alg/single_job.h"
#include "alg/sources.h"

/* All contributions to fragment k, into the own box. */
static inline void turns_reduce(const struct job *j, size_t at, size_t bytes, size_t k)
{
    struct mem_span box = job_box(j, mem_rank(j->m));
    struct sources all;

    sources_begin(&all, j->m, j->c, &box, bytes);
    for (int rank = 0; rank < mem_size(j->m); rank++) {
        if (rank != mem_rank(j->m))
            single_await_full(j->m, rank, k);
        sources_add(&all, rank == mem_rank(j->m) ? job_in(j, at) : job_box(j, rank));
    }
    sources_reduce(&all, &box, NULL);
}

/* Fragment k, of this rank's own slice. */
static inline void turns_own(const struct job *j, size_t at, size_t bytes, bool reduced, size_t k)
{
    int me = mem_rank(j->m), ranks = mem_size(j->m);
    struct mem_span box = job_box(j, me), out = job_out(j, at);

    if (!reduced)
        turns_reduce(j, at, bytes, k);
    for (int i = 1; i < ranks; i++)
        single_full(j->m, single_other(j->m, i), k);
    if (j->gets(j->c, me, me))
        mem_out(j->m, out.view, box.shared, out.offset_bytes, bytes);
    for (int i = 1; i < ranks; i++)
        single_await_taken(j->m, single_other(j->m, i), k);
}

/* Fragment k, of another owner's. */
static inline void turns_other(const struct job *j, int owner, size_t at, size_t bytes,
                               bool reduced, size_t k)
{
    if (!reduced) {
        mem_in_all(j->m, single_box(j->m, j->c, mem_rank(j->m), 0), &j->c->in, at, bytes);
        single_full(j->m, owner, k);
    }
    single_await_full(j->m, owner, k);
    if (j->gets(j->c, mem_rank(j->m), owner))
        mem_out(j->m, &j->c->out, single_box(j->m, j->c, owner, 0), at, bytes);
    single_taken(j->m, owner, k);
}

/* What is lacking of all slices: first what has been reduced, since the boxes that hold it are
 * needed for the rest; then that.  Returns the next fragment. */
static inline size_t turns_run(const struct job *j, const struct single_lack *own, bool reduced,
                               size_t k)
{
    int me = mem_rank(j->m);
    size_t max = job_elements(j, single_half(j->c->slot_bytes, mem_size(j->m)));

    for (int owner = 0; owner < mem_size(j->m); owner++) {
        struct single_lack lack = owner == me ? *own : single_told(j->m, owner, me);
        size_t end = reduced ? lack.end : job_start(j, owner + 1);
        for (size_t at = reduced ? lack.from : lack.end, n; at < end; at += n, k++) {
            n = reduced || end - at < max ? end - at : max;
            if (owner == me)
                turns_own(j, at, n, reduced, k);
            else
                turns_other(j, owner, at, n, reduced, k);
        }
    }
    return k;
}

#endif
