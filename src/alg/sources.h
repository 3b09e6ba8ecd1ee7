/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sources.h - a reduction of any number of sources, added in order, so many at once as mem_reduce
 * takes: what has been reduced so far is the first of the next.
 */
#ifndef HUD_ALG_SOURCES_H
#define HUD_ALG_SOURCES_H

#include "alg/alg.h"

struct sources {
    struct mem *m;
    const struct hud_op *op;
    struct mem_span sum; /* where it grows; a source may lie there only if it is among those of the
                            first fold */
    size_t bytes;
    int count;
    struct mem_span from[MEM_SOURCES];
};

/* `from` stays as it is: clearing it takes longer than to reduce a few bytes. */
static inline void sources_begin(struct sources *x, struct mem *m, const struct coll *c,
                                 const struct mem_span *sum, size_t bytes)
{
    x->m = m;
    x->op = c->reduction;
    x->sum = *sum;
    x->bytes = bytes;
    x->count = 0;
}

/* Makes one source, the sum, of those that have been added. */
static inline void sources_fold(struct sources *x)
{
    mem_reduce(x->m, x->op, &x->sum, NULL, x->from, x->count, x->bytes);
    x->from[0] = x->sum;
    x->count = 1;
}

static inline void sources_add(struct sources *x, struct mem_span from)
{
    if (__builtin_expect(x->count == MEM_SOURCES, 0))
        sources_fold(x);
    x->from[x->count++] = from;
}

/* All that have been added, to `to`, and to `also` unless that is NULL. */
static inline void sources_reduce(const struct sources *x, const struct mem_span *to,
                                  const struct mem_span *also)
{
    mem_reduce(x->m, x->op, to, also, x->from, x->count, x->bytes);
}

#endif
