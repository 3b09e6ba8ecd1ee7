/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bcast.c - broadcast of a span, in one pipeline from the root's node to the last rank.  Between
 * nodes: gate.h; within a node: buffers.h.
 *
 * Source    Paper 04 (Pjesivac-Grbovic et al.: flat, chain, k-ary and k-nomial trees with segments)
 *           between nodes; paper 01 (a queue of buffers) within a node.
 * Shape     One rank of each node, its *gate*, has the ring: the root on its own node, the head on
 *           other nodes.  It receives fragment i + 1 directly into a buffer while it sends fragment
 *           i from its buffer to the nodes below, and while the ranks of its node copy out i - 1.
 * Cost      n + 8 bytes into each node but the root's, in ceil(n / fragment) messages; one copy out
 *           for each rank, one copy in at the root.
 * Accepts   fewer than 2^24 fragments, because fragments are numbered.
 */
#include "alg/nodes/gate.h"

static void bcast_run(struct mem *m, const struct coll *c)
{
    const struct net_map *map = net_map(c->net);
    struct nodes_lines *own = mem_slot(m, mem_rank(m));
    struct gate g = { .m = m,
                      .c = c,
                      .fragment_bytes = (size_t)c->param[NODES_FRAGMENT],
                      .fragments = buffers_fragments(c),
                      .count = mem_get(m, &own->count),
                      .base = c->op << BUFFERS_FRAGMENT_BITS,
                      .tree = { .kind = (enum shape_kind)c->param[NODES_TREE],
                                .degree = (int)c->param[NODES_DEGREE],
                                .ranks = map->nodes,
                                .root = map->node_of[c->root] } };
    int gate = map->local_of[nodes_gate(c, map->node)];

    mem_put(m, &own->count, g.count + g.fragments);
    if (mem_rank(m) == gate) {
        gate_run(&g);
        return;
    }
    for (size_t i = 0; i < g.fragments; i++)
        buffers_take(m, c, gate, g.count + i, i, g.base + i + 1);
}

static bool bcast_accepts(const struct coll *c, int ranks)
{
    (void)ranks;
    return buffers_fragments(c) < (size_t)1 << BUFFERS_FRAGMENT_BITS;
}

ALG_DEFINE(bcast, nodes) = {
    .coll = "bcast",
    .name = "nodes",
    .doc = "a tree of nodes; each node receives into a queue of buffers and sends on from there",
    .source = "paper 04; paper 01, queue of buffers",
    .family = &HUD_BACKEND(nodes_family),
    .accepts = bcast_accepts,
    .run = bcast_run
};
