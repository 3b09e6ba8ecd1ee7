/* SPDX-License-Identifier: BSD-3-Clause */
/* contribution.h - what reductions share: a contribution's way into shared memory, and into a
 * flag's line. */
#ifndef HUD_ALG_CONTRIBUTION_H
#define HUD_ALG_CONTRIBUTION_H

#include "alg/sources.h"

enum {
    CONTRIBUTION_GAP = 8,
    CONTRIBUTION_LINE = MEM_PAYLOAD - CONTRIBUTION_GAP
}; /* bytes; what is combined is aligned to 16 */

/* `accepts` of what travels in one line. */
static inline bool contribution_fits(const struct coll *c, int ranks)
{
    (void)ranks;
    return c->bytes <= CONTRIBUTION_LINE;
}

static inline void *contribution_at(mem_flag *line)
{
    return (char *)line->payload + CONTRIBUTION_GAP;
}

/* False: the sum grows in `out`, which may be `in`, so that the own contribution, too, has to be
 * read in shared memory. */
static inline bool contribution_stays(struct mem *m)
{
    return mem_size(m) <= MEM_SOURCES;
}

/*
 * A rank's contribution as a source, which others read at `shared`; the own one from the view if it
 * stays there, as bytes that others fetch at that moment are slow to read (two ranks, 8 B: 190 ns
 * instead of 280, line transfer 50-65 ns).
 */
static inline struct mem_span contribution_of(struct mem *m, const struct coll *c, int rank,
                                              void *shared, size_t offset_bytes)
{
    return rank == mem_rank(m) && contribution_stays(m)
               ? (struct mem_span){ .view = &c->in, .offset_bytes = offset_bytes }
               : (struct mem_span){ .shared = shared };
}

/* The next contribution, of so many bytes as this one, comes to this line. */
static inline void contribution_claim(struct mem *m, const struct coll *c, const mem_flag *line)
{
    mem_claim(m, line, sizeof line->value + CONTRIBUTION_GAP + c->bytes);
}

#endif
