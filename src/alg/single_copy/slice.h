/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * slice.h - a reduction of which every rank owns a slice, as one rank sees it (owner.h).
 */
#ifndef HUD_ALG_SLICE_H
#define HUD_ALG_SLICE_H

#include "alg/reduction.h"
#include "alg/single_copy/agree.h"

/* On one rank. */
struct reduction {
    struct mem *m;
    const struct coll *c;
    /* Where a rank's slice begins; each ends where the next one's begins. */
    size_t (*starts)(const struct coll *c, int ranks, int rank);
    /* The owner's result is for this rank's out. */
    bool (*gets)(const struct coll *c, int rank, int owner);
    bool scatters; /* out is this rank's slice, not all of them */
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

#endif
