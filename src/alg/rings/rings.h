/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rings.h - the family `rings`: large collectives of a span, in which several ranks of each node
 * exchange with other nodes at the same time.  This file has the memory, and how the ranks of a
 * node contribute.  Sums and blocks go round a ring of nodes (ring.h: allreduce.c,
 * reduce_scatter.c, allgather.c), or sums go down a chain of nodes (chain.h: reduce.c).
 *
 * Shape     The members of ring l are the ranks with number l of all nodes.  A call is processed in
 * chunks.  All
 *           ranks of a node put their contributions to a chunk into their windows, where the
 *           members of rings read them.
 * Returned  lines of contributions, by the member that reads them (mem_reduce_as).
 *
 * Line              written by   read by      meaning of value k
 *   contributions   its owner    the node     the owner's contributions to chunk k - 1 are in its
 *                                             window; at the end of a call, one more: it has
 *                                             finished all
 *   chunks          its owner    its owner    (a word) the value of `contributions`
 * The lines `result` and `returned` are described in ring.h and reduce.c.
 *
 * Edges     R1 -> A1   contributions, to members of rings; reads out of a window, before the next
 *                      is written there
 * Safety    Calls may cut their windows in different ways.  So a call begins after A1 of the end of
 *           the call before.
 */
#ifndef HUD_ALG_RINGS_H
#define HUD_ALG_RINGS_H

#include "alg/reduction.h"

enum { RINGS_SETS = 2, RINGS_BOTH = 2 /* buffers used alternately */, RINGS_SET_BYTES = 128 << 10 };

/* Parameters: bytes of a set of cells, the same in all calls; maximum number of rings, at least 1;
 * maximum bytes of a piece of a reduce, 0: as many as fit. */
enum rings_param { RINGS_SET, RINGS_COUNT, RINGS_PIECE, RINGS_PARAMS };

struct rings_lines {
    mem_flag contributions, result, returned;
    uint64_t chunks;
    _Alignas(HUD_LINE) char end[];
};

extern const struct alg_family HUD_BACKEND(rings_family);

ALG_INLINE struct rings_lines *rings_of(struct mem *m, int rank)
{
    return mem_slot(m, rank);
}

ALG_INLINE int rings_count(const struct coll *c)
{
    const struct net_map *map = net_map(c->net);

    return c->param[RINGS_COUNT] < map->rings ? (int)c->param[RINGS_COUNT] : map->rings;
}

/* Waits until all other ranks of the node have posted a value of `contributions`. */
ALG_INLINE void rings_await_node(struct mem *m, uint64_t value)
{
    for (int r = 0; r < mem_size(m); r++)
        if (r != mem_rank(m))
            mem_await(m, &rings_of(m, r)->contributions, value); /* A1 */
}

ALG_INLINE void rings_contributed(struct mem *m, uint64_t value)
{
    mem_post(m, &rings_of(m, mem_rank(m))->contributions, value); /* R1 */
}

/* Returns the number of chunks of the earlier calls, after all ranks of the node have finished
 * them. */
ALG_INLINE uint64_t rings_begin(struct mem *m)
{
    uint64_t before = mem_get(m, &rings_of(m, mem_rank(m))->chunks);

    rings_await_node(m, before);
    return before;
}

/* Ends a call of `chunks` chunks. */
ALG_INLINE void rings_end(struct mem *m, uint64_t before, size_t chunks)
{
    mem_put(m, &rings_of(m, mem_rank(m))->chunks, before + chunks + 1);
    rings_contributed(m, before + chunks + 1);
}

#endif
