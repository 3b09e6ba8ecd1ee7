/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * aggregated.h - the family `aggregated`: short blocks of a span, where all blocks from one node to
 * another travel in one message: allgather(v), alltoall, gather and scatter (rooted.h).
 *
 * Source    Traff 2006 (SMP-aware exchanges: ranks of a node collect the data for another node);
 *           allgather: Bruck et al. 1997, between nodes.
 * Shape     Ranks write their blocks into an aggregate in the window of the rank that sends it once
 *           it is complete.  The rank that receives the aggregate announces it to its node, whose
 *           ranks copy their blocks out of it.
 * Returned  lines of blocks of alltoall and scatter, by the rank they are for (mem_out_as).
 * Memory    Calls of the family use two sets of a window in turn.
 *
 * Line       written by   read by     meaning of value k
 *   entered    its owner    its node    the owner has written its contribution to call k, and
 *                                       has finished the calls before
 *   arrived    its owner    its node    the aggregates of call k that the owner receives are there
 *   calls      its owner    its owner   (a word) calls of the family so far
 *
 * Edges     R1 -> A1   a block, to the rank that sends it, or to one of the node that gets it
 *           R2 -> A2   an aggregate, to the ranks of the node
 *           R1 -> A4   a set that is not used any more, before it is written again
 *           Not needed: A4 by allgather/aggregated, allgatherv/aggregated, alltoall/aggregated:
 *           where no other call is in between, the call before has waited for all to enter it.
 *           R2, A2 by gather/aggregated: no rank reads data that another rank receives.
 * Deadlock  A call waits until ranks of the node have entered it or the call before, which waits
 *           only for earlier calls; then for messages that are sent after such waits.
 * Safety    A set is written in call k after A4 of all ranks of the node for call k - 1, which have
 *           then finished call k - 2, the last user of the set.
 */
#ifndef HUD_ALG_AGGREGATED_H
#define HUD_ALG_AGGREGATED_H

#include "alg/block.h"

enum { AGGREGATED_SETS = 2, AGGREGATED_WINDOW_BYTES = 128 << 10 };

struct aggregated_lines {
    mem_flag entered, arrived;
    uint64_t calls;
    _Alignas(HUD_LINE) char end[];
};

/* A call on one rank. */
struct aggregated_call {
    struct mem *m;
    const struct coll *c;
    const struct net_map *map;
    struct aggregated_lines *own;
    uint64_t number;
    int self, local, locals; /* its number in the span; its number on its node; number of ranks
                                of its node */
};

ALG_INLINE struct aggregated_lines *aggregated_of(const struct aggregated_call *x, int local)
{
    return mem_slot(x->m, local);
}

/* Returns the bytes of a set. */
ALG_INLINE size_t aggregated_room(const struct coll *c)
{
    return c->place->window_bytes / AGGREGATED_SETS / HUD_LINE * HUD_LINE;
}

/* Returns the set of the call in the window of a rank of the node. */
ALG_INLINE char *aggregated_set(const struct aggregated_call *x, int local)
{
    return (char *)mem_window(x->m, local) + x->number % AGGREGATED_SETS * aggregated_room(x->c);
}

ALG_INLINE struct aggregated_call aggregated_begin(struct mem *m, const struct coll *c)
{
    const struct net_map *map = net_map(c->net);
    struct aggregated_call x = { .m = m,
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
            mem_await(m, &aggregated_of(&x, r)->entered, x.number - 1); /* A4 */
    return x;
}

/* Announces that this rank has written its contribution. */
ALG_INLINE void aggregated_enter(const struct aggregated_call *x)
{
    mem_post(x->m, &x->own->entered, x->number); /* R1 */
}

ALG_INLINE void aggregated_await(const struct aggregated_call *x, int local)
{
    if (local != x->local)
        mem_await(x->m, &aggregated_of(x, local)->entered, x->number); /* A1 */
}

ALG_INLINE void aggregated_await_node(const struct aggregated_call *x)
{
    for (int r = 0; r < x->locals; r++)
        aggregated_await(x, r);
}

ALG_INLINE void aggregated_announce(const struct aggregated_call *x)
{
    mem_post(x->m, &x->own->arrived, x->number); /* R2 */
}

ALG_INLINE void aggregated_await_arrival(const struct aggregated_call *x, int local)
{
    if (local != x->local)
        mem_await(x->m, &aggregated_of(x, local)->arrived, x->number); /* A2 */
}

extern const struct alg_family HUD_BACKEND(aggregated_family);

#endif
