/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ring.h - sums and blocks that go round rings of nodes (rings.h): allreduce.c,
 * reduce_scatter.c, allgather.c.
 *
 * Source    Patarasuk, Yuan 2009 (the ring: reduce-scatter, then allgather) between nodes; slices
 *           that ranks own (slices.h) within a node.
 * Shape     For a chunk
 *             all ranks put their contributions to the blocks into their windows |
 *             the members of rings send sums round, then the blocks that are complete
 *             (ring_steps.h) |
 *             all ranks copy out.
 *           A collective makes the steps of sums, of blocks, or of both.  The second half of the
 *           steps of chunk k - 1 and the first half of chunk k go in turn, so that a member has two
 *           messages on their way: while one arrives, the other is passed on.
 *
 * Line              written by   read by      meaning of value k
 *   contributions   its owner    the node     rings.h; and it has finished all before chunk k - 2
 *   result          a member     the node     its blocks of chunk k - 1 are in its window, and it
 *                                             has read the contributions
 *
 * Edges     R2 -> A2   blocks of the result; contributions read, before the next are written
 * Deadlock  All ranks go through the same chunks and steps in the same order.  A chunk waits for
 *           messages and flags that the other ranks announce before they wait in the same chunk.
 * Safety    A set of cells serves every second chunk.  A member writes results of chunk k, which
 *           others copy out, after A1 of chunk k, so all ranks have finished chunk k - 2.  A rank
 *           writes contributions to chunk k after A2 of chunk k - 2 from all members, which have
 *           then read the contributions to k - 2.
 */
#ifndef HUD_ALG_RING_H
#define HUD_ALG_RING_H

#include "alg/rings/ring_steps.h"

/* Makes the block that this member sends first. */
ALG_INLINE void ring_make_first(const struct ring *x, size_t chunk)
{
    int node = ring_moved(x, 0);

    if (x->plan->begin)
        x->plan->begin(x, chunk);
    else if (x->plan->bytes(x, chunk, x->ring, node) != 0)
        x->plan->reduce(x, chunk, node, NULL);
}

ALG_INLINE void ring_begin_chunk(struct ring *x, size_t chunk)
{
    x->plan->contribute(x, chunk);
    rings_contributed(x->m, x->before + chunk + 1);
    if (x->ring < 0)
        return;
    x->sent[chunk % RINGS_SETS] = x->first;
    rings_await_node(x->m, x->before + chunk + 1);
    ring_expect(x, chunk, x->first);
    ring_make_first(x, chunk);
    ring_pass_on(x, chunk, x->first);
}

ALG_INLINE void ring_end_chunk(struct ring *x, size_t chunk)
{
    uint64_t value = x->before + chunk + 1;

    if (x->ring >= 0) {
        ring_complete(x, chunk, x->first + x->steps);
        mem_post(x->m, &rings_of(x->m, x->ring)->result, value); /* R2 */
    }
    for (int ring = 0; ring < x->rings; ring++)
        if (ring != x->ring)
            mem_await(x->m, &rings_of(x->m, ring)->result, value); /* A2 */
    x->plan->copy_out(x, chunk);
}

/* Returns the maximum bytes of a block, in whole lines. */
ALG_INLINE size_t ring_room(const struct coll *c)
{
    size_t cells = (size_t)rings_count(c) * (size_t)net_map(c->net)->nodes + RING_MORE;

    return (size_t)c->param[RINGS_SET] / cells / HUD_LINE * HUD_LINE;
}

/* Returns a call that is not cut into chunks yet. */
ALG_INLINE struct ring ring_of_call(struct mem *m, const struct coll *c,
                                    const struct ring_plan *plan, enum net_tag tag)
{
    const struct net_map *map = net_map(c->net);

    return (struct ring){ .m = m,
                          .c = c,
                          .plan = plan,
                          .map = map,
                          .tag = tag,
                          .nodes = map->nodes,
                          .rings = rings_count(c) };
}

/* Runs a call that has been cut into chunks. */
ALG_INLINE void ring_run(struct ring *x)
{
    const struct ring_plan *plan = x->plan;
    int once = x->nodes - 1, me = mem_rank(x->m);

    x->ring = me < x->rings ? me : -1;
    x->first = plan->reduces ? 0 : once;
    x->steps = plan->reduces && plan->gathers ? 2 * once : once;
    if (x->ring >= 0) {
        x->above = net_member(x->map, (x->map->node + 1) % x->nodes, me);
        x->below = net_member(x->map, (x->map->node + once) % x->nodes, me);
    }
    int half = (x->steps + 1) / 2;
    x->before = rings_begin(x->m);
    for (size_t k = 0; k <= x->chunks; k++) {
        if (k < x->chunks)
            ring_begin_chunk(x, k);
        for (int i = 0; i < half; i++) {
            if (k > 0)
                ring_steps(x, k - 1, half + i);
            if (k < x->chunks)
                ring_steps(x, k, i);
        }
        if (k > 0)
            ring_end_chunk(x, k - 1);
    }
    rings_end(x->m, x->before, x->chunks);
}

/* Fields that all rows of the ring share. */
#define RING_ALG(coll_, doc_)                                                                      \
    .coll = #coll_, .name = "rings", .doc = "several ranks of each node pass " doc_,               \
    .source = "Patarasuk, Yuan 2009; slices within a node", .family = &HUD_BACKEND(rings_family),  \
    .run = coll_##_rings

#endif
