/* SPDX-License-Identifier: BSD-3-Clause */
/* contribution.h - what reductions share: a contribution's way into shared memory, and into a flag's line. */
#ifndef HUD_ALG_CONTRIBUTION_H
#define HUD_ALG_CONTRIBUTION_H

#include "alg/alg.h"

enum { CONTRIBUTION_GAP = 8, CONTRIBUTION_LINE = MEM_PAYLOAD - CONTRIBUTION_GAP }; /* bytes; what is combined is aligned to 16 */

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

/* Bytes [offset, offset + bytes) of a view, all of them, to shared memory. */
static inline void contribution_in(struct mem *m, const struct coll *c, void *to, size_t offset_bytes, size_t bytes)
{
    for (size_t taken = 0; taken < bytes;)
        taken += mem_in(m, (char *)to + taken, &c->in, offset_bytes + taken, bytes - taken);
}

/*
 * The own contribution as a source, where others read it at `shared`: from the view, as bytes that others fetch at that moment are slow to read (two ranks, 8 B:
 * 190 ns instead of 280, line transfer 50-65 ns).  More ranks than one mem_reduce takes: in `out`, which may be `in`, lies what has been reduced so far.
 */
static inline struct mem_span contribution_own(struct mem *m, const struct coll *c, void *shared, size_t offset_bytes)
{
    return mem_size(m) > MEM_SOURCES ? (struct mem_span){ .shared = shared }
                                     : (struct mem_span){ .view = &c->in, .offset_bytes = offset_bytes };
}

/* Others have read this line, and the next contribution, of so many bytes as this one, comes to it. */
static inline void contribution_claim(struct mem *m, const struct coll *c, const mem_flag *line)
{
    mem_claim(m, line, sizeof line->value + CONTRIBUTION_GAP + c->bytes);
}

#endif
