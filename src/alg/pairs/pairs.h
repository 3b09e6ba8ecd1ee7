/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pairs.h - the family `pairs`: blocks of any sizes from rank to rank of a span, each pair by
 * itself.  Here: the memory, and what a collective says of its blocks.  pairs.c has the steps,
 * fragments.h what happens to a fragment, with lines, edges and proof.  The collectives:
 * alltoall.c, gather.c, scatter.c.
 */
#ifndef HUD_ALG_PAIRS_H
#define HUD_ALG_PAIRS_H

#include "alg/block.h"

/* Buffers of a rank; bytes of one. */
enum { PAIRS_COMING = 4, PAIRS_GOING = 8, PAIRS_FRAGMENT_BYTES = 16 << 10 };

/* Parameters: bytes of a fragment, and of a buffer, whole lines; the same in all calls. */
enum pairs_param { PAIRS_FRAGMENT, PAIRS_PARAMS };

/* Bits of a flag's value below the step, and below the call. */
enum { PAIRS_STEP_BITS = 32, PAIRS_CALL_BITS = 48 };

struct pairs_lines {
    mem_flag sent, got;
    uint64_t calls; /* of the family: the owner's own word */
    _Alignas(HUD_LINE) char end[];
};

static inline size_t pairs_window_bytes(size_t fragment_bytes)
{
    return (PAIRS_COMING + PAIRS_GOING) * fragment_bytes;
}

extern const struct alg_family HUD_BACKEND(pairs_family);

/* What this rank has for another one, or gets of it. */
typedef struct block pairs_block_fn(const struct coll *c, int self, int other);

/* In pairs.c: a call. */
void HUD_BACKEND(pairs_run)(struct mem *m, const struct coll *c, enum net_tag tag,
                            pairs_block_fn *out, pairs_block_fn *in);

static inline bool pairs_accepts(const struct coll *c, int ranks)
{
    (void)c;
    return ranks <= UINT16_MAX;
}

/* The row of a collective that makes its call with these. */
#define PAIRS_ALG(coll_)                                                                           \
    .coll = #coll_, .name = "pairs", .doc = "each pair of ranks exchanges its blocks",             \
    .source = "Thakur, Rabenseifner, Gropp 2005", .family = &HUD_BACKEND(pairs_family),            \
    .accepts = pairs_accepts, .run = coll_##_pairs

#endif
