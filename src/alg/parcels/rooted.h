/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rooted.h - where the blocks of a short gather or scatter of a span are (parcels.h).
 *
 * Shape     The root's window has the blocks of all ranks, node by node.  Each other node has a
 *           parcel with those of its ranks in the window of its head.  Ranks of the root's node
 *           write and read in the root's window.
 */
#ifndef HUD_ALG_PARCELS_ROOTED_H
#define HUD_ALG_PARCELS_ROOTED_H

#include "alg/parcels/parcels.h"

static inline bool rooted_is_root(const struct parcels_call *x)
{
    return x->self == x->c->root;
}

/* The root is on this node. */
static inline bool rooted_here(const struct parcels_call *x)
{
    return x->map->node_of[x->c->root] == x->map->node;
}

/* The rank of this node with its parcel. */
static inline int rooted_gate(const struct parcels_call *x)
{
    return rooted_here(x) ? x->map->local_of[x->c->root] : 0;
}

/* A node's parcel in the root's window; its bytes. */
static inline char *rooted_parcel(const struct parcels_call *x, int node)
{
    return parcels_set(x, x->local) + (size_t)x->map->first[node] * x->c->bytes;
}

static inline size_t rooted_parcel_bytes(const struct parcels_call *x, int node)
{
    return (size_t)net_members(x->map, node) * x->c->bytes;
}

/* This rank's block, where it is written or read. */
static inline char *rooted_own_block(const struct parcels_call *x)
{
    int before = rooted_here(x) ? x->map->first[x->map->node] : 0;

    return parcels_set(x, rooted_gate(x)) + (size_t)(before + x->local) * x->c->bytes;
}

/* The root's own block, from `in` to `out`. */
static inline void rooted_keep_own(const struct parcels_call *x, const struct mem_span *to,
                                   const struct mem_span *from)
{
    if (!coll_in_place(x->c))
        mem_move(x->m, to, from, x->c->bytes);
}

/* Blocks between the root's window and its view: those of all other ranks; where they are in order,
 * in runs. */
static inline void rooted_move_all(const struct parcels_call *x, bool out)
{
    const struct net_map *map = x->map;
    size_t bytes = x->c->bytes;
    char *set = parcels_set(x, x->local);

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

/* All blocks together fit a set of the window. */
static inline bool rooted_accepts(const struct coll *c, int ranks)
{
    return c->bytes <= parcels_room(c) / (size_t)ranks;
}

#endif
