/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rooted.h - the places of the blocks of a short gather or scatter of a span (aggregated.h).
 *
 * Shape     The root's window has the blocks of all ranks, node by node.  Each other node has an
 *           aggregate with the blocks of its ranks in the window of its head.  Ranks of the root's
 *           node write and read in the root's window.
 */
#ifndef HUD_ALG_AGGREGATED_ROOTED_H
#define HUD_ALG_AGGREGATED_ROOTED_H

#include "alg/aggregated/aggregated.h"

static inline bool rooted_is_root(const struct aggregated_call *x)
{
    return x->self == x->c->root;
}

/* Reports whether the root is on this node. */
static inline bool rooted_here(const struct aggregated_call *x)
{
    return x->map->node_of[x->c->root] == x->map->node;
}

/* Returns the rank of this node whose window has the node's aggregate. */
static inline int rooted_gate(const struct aggregated_call *x)
{
    return rooted_here(x) ? x->map->local_of[x->c->root] : 0;
}

/* Returns the address of a node's aggregate in the root's window.  rooted_aggregate_bytes() returns
 * its bytes. */
static inline char *rooted_aggregate(const struct aggregated_call *x, int node)
{
    return aggregated_set(x, x->local) + (size_t)x->map->first[node] * x->c->bytes;
}

static inline size_t rooted_aggregate_bytes(const struct aggregated_call *x, int node)
{
    return (size_t)net_members(x->map, node) * x->c->bytes;
}

/* Returns the address at which this rank's block is written or read. */
static inline char *rooted_own_block(const struct aggregated_call *x)
{
    int before = rooted_here(x) ? x->map->first[x->map->node] : 0;

    return aggregated_set(x, rooted_gate(x)) + (size_t)(before + x->local) * x->c->bytes;
}

/* Moves the root's own block from `in` to `out`. */
static inline void rooted_keep_own(const struct aggregated_call *x, const struct mem_span *to,
                                   const struct mem_span *from)
{
    if (!coll_in_place(x->c))
        mem_move(x->m, to, from, x->c->bytes);
}

/* Moves the blocks of all other ranks between the root's window and its view, in runs of
 * consecutive ranks. */
static inline void rooted_move_all(const struct aggregated_call *x, bool out)
{
    const struct net_map *map = x->map;
    size_t bytes = x->c->bytes;
    char *set = aggregated_set(x, x->local);

    for (int i = 0, run; i < map->ranks; i += run) {
        int rank = map->member[i];
        run = 1;
        if (rank == x->self)
            continue;
        while (i + run < map->ranks && map->member[i + run] == rank + run &&
               map->member[i + run] != x->self)
            run++;
        size_t offset = (size_t)rank * bytes, length = (size_t)run * bytes;
        if (out)
            mem_out(x->m, x->c->out, set + (size_t)i * bytes, offset, length);
        else
            mem_in_all(x->m, set + (size_t)i * bytes, x->c->in, offset, length);
    }
}

/* Reports whether all blocks together fit into a set of the window. */
static inline bool rooted_accepts(const struct coll *c, int ranks)
{
    return c->bytes <= aggregated_room(c) / (size_t)ranks;
}

#endif
