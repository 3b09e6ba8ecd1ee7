/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pairwise.h - the family `pairwise`: blocks of any sizes from rank to rank of a span, each pair
 * separately.  This file has the memory, and how a collective describes its blocks.  pairwise.c has
 * the steps.  fragments.h has the path of a fragment, with lines, edges and proof.  The collectives
 * are in alltoall.c, gather.c and scatter.c.
 */
#ifndef HUD_ALG_PAIRWISE_H
#define HUD_ALG_PAIRWISE_H

#include "alg/block.h"

/* Numbers of receive and send buffers of a rank; default bytes of a buffer. */
enum { PAIRWISE_COMING = 4, PAIRWISE_GOING = 8, PAIRWISE_FRAGMENT_BYTES = 16 << 10 };

/* Parameters: bytes of a fragment, and of a buffer, in whole lines; the same in all calls. */
enum pairwise_param { PAIRWISE_FRAGMENT, PAIRWISE_PARAMS };

/* Numbers of bits of a flag's value below the step, and below the call. */
enum { PAIRWISE_STEP_BITS = 32, PAIRWISE_CALL_BITS = 48 };

struct pairwise_lines {
    mem_flag sent, got;
    uint64_t calls; /* number of calls of the family; the owner's own word */
    _Alignas(HUD_LINE) char end[];
};

static inline size_t pairwise_window_bytes(size_t fragment_bytes)
{
    return (PAIRWISE_COMING + PAIRWISE_GOING) * fragment_bytes;
}

extern const struct alg_family HUD_BACKEND(pairwise_family);

/* Returns the block of a rank for another rank, or from the other rank. */
typedef struct block pairwise_block_fn(const struct coll *c, int self, int other);

/* Runs a call (pairwise.c). */
void HUD_BACKEND(pairwise_run)(struct mem *m, const struct coll *c, enum net_tag tag,
                               pairwise_block_fn *out, pairwise_block_fn *in);

static inline bool pairwise_accepts(const struct coll *c, int ranks)
{
    (void)c;
    return ranks <= UINT16_MAX;
}

/* The row of a collective that makes its call with pairwise_run(). */
#define PAIRWISE_ALG(coll_)                                                                        \
    .coll = #coll_, .name = "pairwise",                                                            \
    .doc = "each pair of ranks exchanges its blocks in messages of its own",                       \
    .source = "Thakur, Rabenseifner, Gropp 2005", .family = &HUD_BACKEND(pairwise_family),         \
    .accepts = pairwise_accepts, .run = coll_##_pairwise

#endif
