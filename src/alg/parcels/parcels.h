/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * parcels.h - the family `parcels`: short blocks of a span, where those from one node to another
 * travel in one message: allgather(v), alltoall, gather and scatter (rooted.h).
 *
 * Source    Traff 2006 (SMP-aware exchanges: ranks of a node collect what goes to another one);
 *           allgather: Bruck et al. 1997, between nodes.
 * Shape     Ranks write their blocks into a parcel in the window of the rank that sends it, which
 *           sends it when all are there.  The rank that receives it announces it to its node, whose
 *           ranks copy their blocks out of it.
 * Memory    Calls of the family use two sets of a window in turn.
 *
 * Line       written by   read by     meaning of value k
 *   entered    its owner    its node    the owner has written what it contributes to call k, and
 *                                       has finished the calls before
 *   arrived    its owner    its node    the parcels of call k that the owner receives are there
 *   calls      its owner    its owner   (a word) calls of the family so far
 *
 * Edges     R1 -> A1   a block, to the rank that sends it, or to one of the node that gets it
 *           R2 -> A2   a parcel, to the ranks of the node
 *           R1 -> A4   a set that is not used any more, before it is written again
 *           Not needed: A4 by allgather/parcels, allgatherv/parcels, alltoall/parcels: where no
 *           other call comes between, the call before has waited for all to enter it.
 *           R2, A2 by gather/parcels: no rank reads what another one receives.
 * Deadlock  A call waits for ranks of the node to enter it, or the call before, which waits for
 *           calls before that alone; then for messages that are sent after such waits.
 * Safety    A set is written in call k after A4 of all ranks of the node for call k - 1: they have
 *           finished call k - 2, which used it.
 */
#ifndef HUD_ALG_PARCELS_H
#define HUD_ALG_PARCELS_H

#include "alg/block.h"

enum { PARCELS_SETS = 2, PARCELS_WINDOW_BYTES = 128 << 10 };

struct parcels_lines {
    mem_flag entered, arrived;
    uint64_t calls;
    _Alignas(HUD_LINE) char end[];
};

/* A rank's view of its call. */
struct parcels_call {
    struct mem *m;
    const struct coll *c;
    const struct net_map *map;
    struct parcels_lines *own;
    uint64_t number;
    int self, local, locals; /* its number in the span, and on its node, which has so many */
};

ALG_INLINE struct parcels_lines *parcels_of(const struct parcels_call *x, int local)
{
    return mem_slot(x->m, local);
}

/* Of a set. */
ALG_INLINE size_t parcels_room(const struct coll *c)
{
    return c->place->window_bytes / PARCELS_SETS / HUD_LINE * HUD_LINE;
}

/* Of the call, in the window of a rank of the node. */
ALG_INLINE char *parcels_set(const struct parcels_call *x, int local)
{
    return (char *)mem_window(x->m, local) + x->number % PARCELS_SETS * parcels_room(x->c);
}

ALG_INLINE struct parcels_call parcels_begin(struct mem *m, const struct coll *c)
{
    const struct net_map *map = net_map(c->net);
    struct parcels_call x = { .m = m,
                              .c = c,
                              .map = map,
                              .own = mem_slot(m, mem_rank(m)),
                              .self = net_member(map, map->node, mem_rank(m)),
                              .local = mem_rank(m),
                              .locals = mem_size(m) };

    x.number = mem_get(m, &x.own->calls) + 1;
    mem_put(m, &x.own->calls, x.number);
    for (int r = 0; r < x.locals; r++)
        if (r != x.local)
            mem_await(m, &parcels_of(&x, r)->entered, x.number - 1); /* A4 */
    return x;
}

/* This rank has written what it contributes. */
ALG_INLINE void parcels_enter(const struct parcels_call *x)
{
    mem_post(x->m, &x->own->entered, x->number); /* R1 */
}

ALG_INLINE void parcels_await(const struct parcels_call *x, int local)
{
    if (local != x->local)
        mem_await(x->m, &parcels_of(x, local)->entered, x->number); /* A1 */
}

ALG_INLINE void parcels_await_node(const struct parcels_call *x)
{
    for (int r = 0; r < x->locals; r++)
        parcels_await(x, r);
}

ALG_INLINE void parcels_announce(const struct parcels_call *x)
{
    mem_post(x->m, &x->own->arrived, x->number); /* R2 */
}

ALG_INLINE void parcels_await_arrival(const struct parcels_call *x, int local)
{
    if (local != x->local)
        mem_await(x->m, &parcels_of(x, local)->arrived, x->number); /* A2 */
}

extern const struct alg_family HUD_BACKEND(parcels_family);

#endif
