/* SPDX-License-Identifier: BSD-3-Clause */
/* slice.h - a reduction of which every rank owns a slice, as seen by one rank (owner.h). */
#ifndef HUD_ALG_SLICE_H
#define HUD_ALG_SLICE_H

#include "alg/reduction.h"
#include "alg/single_copy/agree.h"

/* A reduction on one rank. */
struct reduction {
    struct mem *m;
    const struct coll *c;
    /* Returns where a rank's slice begins.  It ends where the next rank's slice begins. */
    size_t (*starts)(const struct coll *c, int ranks, int rank);
    /* Reports whether the owner's result is also for `out` of this rank. */
    bool (*gets)(const struct coll *c, int rank, int owner);
    bool scatters; /* `out` is this rank's slice, not all slices */
};

static inline size_t slice_start(const struct reduction *r, int rank)
{
    return r->starts(r->c, mem_size(r->m), rank);
}

/* Returns `bytes` rounded down to whole elements. */
static inline size_t whole_elements(const struct reduction *r, size_t bytes)
{
    return bytes - bytes % r->c->reduction->element_bytes;
}

/* Returns this rank's contribution.  slice_out() returns the place of the result. */
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

#endif
