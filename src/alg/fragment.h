/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fragment.h - what algorithms share that send a message by fragments: the fragment header, the
 * copy in, and slots that are a ring of cells.
 */
#ifndef HUD_ALG_FRAGMENT_H
#define HUD_ALG_FRAGMENT_H

#include "alg/alg.h"
#include "shape/ring.h"

/* A fragment header: bytes of the fragment, times two, plus one if there are more after it. */
enum { FRAGMENT_MORE = 1 };

static inline uint64_t fragment_header(size_t bytes, size_t rest)
{
    return (uint64_t)bytes << 1 | (bytes < rest ? FRAGMENT_MORE : 0);
}

static inline size_t fragment_bytes(uint64_t header)
{
    return header >> 1;
}

/* Copies the next fragment, of at most f bytes, into shared memory.  Returns its header.  Whole
 * elements are copied: it may be shorter. */
static inline uint64_t fragment_copy_in(struct mem *m, const struct coll *c, void *to, size_t sent,
                                        size_t f)
{
    size_t rest = c->out->bytes - sent;

    return fragment_header(mem_in(m, to, c->out, sent, rest < f ? rest : f), rest);
}

/* A slot that is a head and then cells, as many as wanted or as fit, in equal sets. */
static inline struct shape_ring fragment_ring(size_t slot_bytes, size_t head_bytes,
                                              size_t cell_bytes, long wanted, uint64_t sets)
{
    size_t room = slot_bytes > head_bytes ? slot_bytes - head_bytes : 0;

    return ring_cut(room / cell_bytes, (uint64_t)wanted, sets);
}

/* Exactly what is used of it; 0: no room. */
static inline size_t fragment_slot_bytes(const struct shape_ring *ring, size_t head_bytes,
                                         size_t cell_bytes)
{
    return ring->units == 0 ? 0 : head_bytes + ring->units * cell_bytes;
}

#endif
