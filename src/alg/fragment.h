/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fragment.h - shared by algorithms that send a message in fragments: the fragment header and the
 * copy in.
 */
#ifndef HUD_ALG_FRAGMENT_H
#define HUD_ALG_FRAGMENT_H

#include "alg/alg.h"
#include "shape/ring.h"

/* A fragment header: the bytes of the fragment, times two, plus one if more fragments follow. */
enum { FRAGMENT_MORE = 1 };

static inline uint64_t fragment_header(size_t bytes, size_t rest)
{
    return (uint64_t)bytes << 1 | (bytes < rest ? FRAGMENT_MORE : 0);
}

static inline size_t fragment_bytes(uint64_t header)
{
    return header >> 1;
}

/* Copies the next fragment, of at most f bytes, into shared memory, and returns its header.  Only
 * whole elements are copied, so the fragment may be shorter. */
static inline uint64_t fragment_copy_in(struct mem *m, const struct coll *c, void *to, size_t sent,
                                        size_t f)
{
    size_t rest = c->out->bytes - sent;

    return fragment_header(mem_in(m, to, c->out, sent, rest < f ? rest : f), rest);
}

#endif
