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

/* Others have read this line, and the next contribution, of so many bytes as this one, comes to it. */
static inline void contribution_claim(struct mem *m, const struct coll *c, const mem_flag *line)
{
    mem_claim(m, line, sizeof line->value + CONTRIBUTION_GAP + c->bytes);
}

#endif
