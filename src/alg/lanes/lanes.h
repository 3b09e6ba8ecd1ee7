/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lanes.h - the family `lanes`: large collectives of a span, where several ranks of each node
 * exchange with other nodes at a time.  Here: the memory, and how the ranks of a node contribute.
 * Sums and blocks go round a ring of nodes (ring.h: allreduce.c, reduce_scatter.c, allgather.c), or
 * sums down a chain of them (chain.h: reduce.c).
 *
 * Shape     Lane l is the rank with number l of each node.  A call goes by chunks.  All ranks of a
 *           node put what they contribute to a chunk into their windows, for the lanes to read.
 *
 * Line              written by   read by      meaning of value k
 *   contributions   its owner    the node     the owner's contributions to chunk k - 1 are in its
 *                                             window; at the end of a call, one more: it has
 *                                             finished all
 *   chunks          its owner    its owner    (a word) the value of `contributions`
 * and `result`, `returned`: ring.h, reduce.c.
 *
 * Edges     R1 -> A1   contributions, to the lanes; what was read out of a window, before the next
 *                      is written there
 * Safety    Calls may cut their windows in different ways.  So a call begins after A1 of the end of
 *           the call before.
 */
#ifndef HUD_ALG_LANES_H
#define HUD_ALG_LANES_H

#include "alg/reduction.h"

enum { LANES_SETS = 2, LANES_BOTH = 2 /* buffers used alternately */, LANES_SET_BYTES = 128 << 10 };

/* Parameters: bytes of a set of cells, the same in all calls; lanes at most, from 1 on; of a
 * reduce: bytes of a piece at most, 0: as there is room. */
enum lanes_param { LANES_SET, LANES_COUNT, LANES_PIECE, LANES_PARAMS };

struct lanes_lines {
    mem_flag contributions, result, returned;
    uint64_t chunks;
    _Alignas(HUD_LINE) char end[];
};

extern const struct alg_family HUD_BACKEND(lanes_family);

ALG_INLINE struct lanes_lines *lanes_of(struct mem *m, int rank)
{
    return mem_slot(m, rank);
}

ALG_INLINE int lanes_count(const struct coll *c)
{
    const struct net_map *map = net_map(c->net);

    return c->param[LANES_COUNT] < map->lanes ? (int)c->param[LANES_COUNT] : map->lanes;
}

/* All others of the node have posted that value of `contributions`. */
ALG_INLINE void lanes_await_node(struct mem *m, uint64_t value)
{
    for (int r = 0; r < mem_size(m); r++)
        if (r != mem_rank(m))
            mem_await(m, &lanes_of(m, r)->contributions, value); /* A1 */
}

ALG_INLINE void lanes_contributed(struct mem *m, uint64_t value)
{
    mem_post(m, &lanes_of(m, mem_rank(m))->contributions, value); /* R1 */
}

/* Chunks of the calls before; all ranks of the node have finished these. */
ALG_INLINE uint64_t lanes_begin(struct mem *m)
{
    uint64_t before = mem_get(m, &lanes_of(m, mem_rank(m))->chunks);

    lanes_await_node(m, before);
    return before;
}

/* A call of so many chunks is over. */
ALG_INLINE void lanes_end(struct mem *m, uint64_t before, size_t chunks)
{
    mem_put(m, &lanes_of(m, mem_rank(m))->chunks, before + chunks + 1);
    lanes_contributed(m, before + chunks + 1);
}

#endif
