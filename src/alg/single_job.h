/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * single_job.h - a reduction by single copy, as its collective describes it: every rank owns a
 * slice of the message and makes its result, for whoever gets it.
 */
#ifndef HUD_ALG_SINGLE_JOB_H
#define HUD_ALG_SINGLE_JOB_H

#include "alg/single_box.h"

/* On one rank. */
struct job {
    struct mem *m;
    const struct coll *c;
    size_t (*starts)(
        const struct coll *c, int ranks,
        int rank); /* where a rank's slice begins; all end where the next one's begins */
    bool (*gets)(const struct coll *c, int rank,
                 int owner); /* the owner's result is for this rank's out */
    bool scatters;           /* out is the own slice, not all of them */
};

static inline size_t job_start(const struct job *j, int rank)
{
    return j->starts(j->c, mem_size(j->m), rank);
}

/* So many of these bytes as are whole elements. */
static inline size_t job_elements(const struct job *j, size_t bytes)
{
    return bytes - bytes % j->c->reduction->element_bytes;
}

/* The own contribution; and where the result goes. */
static inline struct mem_span job_in(const struct job *j, size_t at)
{
    return (struct mem_span){ .view = &j->c->in, .offset_bytes = at };
}

static inline struct mem_span job_out(const struct job *j, size_t at)
{
    return (struct mem_span){ .view = &j->c->out,
                              .offset_bytes =
                                  at - (j->scatters ? job_start(j, mem_rank(j->m)) : 0) };
}

static inline struct mem_span job_box(const struct job *j, int rank)
{
    return (struct mem_span){ .shared = single_box(j->m, j->c, rank, 0) };
}

#endif
