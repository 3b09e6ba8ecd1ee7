/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * missing.h - moves the bytes of a reduction (owner.h) that the kernel did not copy through the
 * bounce buffers, in fragments that all ranks count in the same way.
 *
 * Shape     For a fragment that is not reduced yet, all ranks put their contributions into their
 *           bounce buffers, and the owner reduces them.  The owner's bounce buffer then has the
 *           result.  The ranks that get the result copy it out there, and all ranks acknowledge it.
 */
#ifndef HUD_ALG_MISSING_H
#define HUD_ALG_MISSING_H

#include "alg/single_copy/slice.h"

/* Reduces all contributions to fragment k into this rank's bounce buffer. */
static inline void missing_reduce(const struct reduction *r, size_t at, size_t bytes, size_t k)
{
    struct mem_span bounce = slice_bounce(r, mem_rank(r->m));
    struct sources all;

    sources_begin(&all, r->m, r->c, &bounce, bytes);
    for (int rank = 0; rank < mem_size(r->m); rank++) {
        if (rank != mem_rank(r->m))
            bounce_await_full(r->m, rank, k);
        sources_add(&all, rank == mem_rank(r->m) ? slice_in(r, at) : slice_bounce(r, rank));
    }
    sources_reduce(&all, &bounce, NULL);
}

/* Moves fragment k of this rank's slice. */
static inline void missing_of_own(const struct reduction *r, size_t at, size_t bytes, bool reduced,
                                  size_t k)
{
    int me = mem_rank(r->m), ranks = mem_size(r->m);
    struct mem_span bounce = slice_bounce(r, me), out = slice_out(r, at);

    if (!reduced)
        missing_reduce(r, at, bytes, k);
    for (int i = 1; i < ranks; i++)
        bounce_post_full(r->m, single_other(r->m, i), k);
    if (r->gets(r->c, me, me))
        mem_out(r->m, out.view, bounce.shared, out.offset_bytes, bytes);
    for (int i = 1; i < ranks; i++)
        bounce_await_acknowledged(r->m, single_other(r->m, i), k);
}

/* Moves fragment k of another owner's slice. */
static inline void missing_of_other(const struct reduction *r, int owner, size_t at, size_t bytes,
                                    bool reduced, size_t k)
{
    if (!reduced) {
        mem_in_all(r->m, bounce_at(r->m, r->c, mem_rank(r->m), 0), r->c->in, at, bytes);
        bounce_post_full(r->m, owner, k);
    }
    bounce_await_full(r->m, owner, k);
    if (r->gets(r->c, mem_rank(r->m), owner))
        mem_out(r->m, r->c->out, bounce_at(r->m, r->c, owner, 0), at, bytes);
    bounce_post_acknowledged(r->m, owner, k);
}

/* Moves the missing bytes of all slices: if `reduced` is true, the bytes already reduced, and
 * otherwise the rest.  `own` has the missing bytes of this rank's slice.  Fragments are numbered
 * from k on.  Returns the next number. */
static inline size_t missing_bounce(const struct reduction *r, const struct single_missing *own,
                                    bool reduced, size_t k)
{
    int me = mem_rank(r->m);
    size_t max = whole_elements(r, single_half(r->c->place->window_bytes));

    for (int owner = 0; owner < mem_size(r->m); owner++) {
        struct single_missing missing = owner == me ? *own : single_reported(r->m, owner, me);
        size_t end = reduced ? missing.end : slice_start(r, owner + 1);
        for (size_t at = reduced ? missing.from : missing.end, n; at < end; at += n, k++) {
            n = reduced || end - at < max ? end - at : max;
            if (owner == me)
                missing_of_own(r, at, n, reduced, k);
            else
                missing_of_other(r, owner, at, n, reduced, k);
        }
    }
    return k;
}

#endif
