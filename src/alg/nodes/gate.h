/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gate.h - the work of a gate in a broadcast: it receives fragments from the node above, and passes
 * them on to the nodes below and to the ranks of its node (buffers.h).
 *
 * Source    Paper 04 (Pjesivac-Grbovic et al.: flat, chain, k-ary and k-nomial trees with
 *           segments).
 * Shape     A gate receives fragment i + 1 directly into a buffer while it sends fragment i from
 *           its buffer to the nodes below.  The root copies fragments in instead.
 *
 * Edges     R3 -> A3   a fragment, to the nodes below
 * Deadlock  A gate starts its receives in order, at most GATE_AHEAD before the fragment that it
 *           passes on.  It then waits for the ranks of its node to copy out fragments that are
 *           ready, for nodes below to receive fragments that were sent before, and for the node
 *           above.  Nodes form a tree, and fragments are in order on each edge.
 * Safety    1 A buffer is written after the messages out of it are complete (net_sent), and as
 *           buffers.h requires.
 *           2 A call ends at a gate after its messages are complete.
 *           3 Between two nodes all calls have one tag, and messages are received in the order of
 *           calls.
 */
#ifndef HUD_ALG_GATE_H
#define HUD_ALG_GATE_H

#include "alg/nodes/buffers.h"

enum { GATE_AHEAD = NODES_RING / 2 };

/* A call on a gate. */
struct gate {
    struct mem *m;
    const struct coll *c;
    size_t fragment_bytes, fragments;
    uint64_t count;         /* number of fragments before this call */
    uint64_t base;          /* value of `ready` before the first fragment */
    struct shape_tree tree; /* tree of nodes */
    int above;              /* rank from which to receive; -1 on the root */
    int children;
};

static inline int gate_incoming(size_t i)
{
    return (int)(i % NODES_RING);
}

static inline int gate_outgoing(const struct gate *g, size_t i, int child)
{
    return NODES_RING + (int)(i % NODES_RING) * g->children + child;
}

static inline void gate_complete_sends(const struct gate *g, size_t i)
{
    for (int child = 0; child < g->children; child++)
        net_sent(g->m, g->c->net, gate_outgoing(g, i, child));
}

/* Waits until the buffer of fragment i is free, and starts to receive the fragment, or copies it in
 * on the root. */
static inline void gate_begin(const struct gate *g, size_t i)
{
    struct mem *m = g->m;
    char *at = buffers_at(m, g->c, mem_rank(m), g->count + i);
    size_t bytes = buffers_fragment_bytes(g->c, i);

    if (i >= NODES_RING)
        gate_complete_sends(g, i - NODES_RING);
    buffers_claim(m, g->count + i, g->base + i + 1);
    if (g->above >= 0) {
        net_receive(m, g->c->net, gate_incoming(i), g->above, NET_BCAST, at - buffers_before(i),
                    bytes + buffers_before(i));
        return;
    }
    if (i == 0)
        mem_put(m, buffers_total(at), g->c->bytes);
    mem_in_all(m, at, g->c->out, i * g->fragment_bytes, bytes);
}

/* Waits for fragment i, and passes it on to the nodes below and to the ranks of this node. */
static inline void gate_pass_on(const struct gate *g, size_t i)
{
    struct mem *m = g->m;
    struct net *n = g->c->net;
    char *at = buffers_at(m, g->c, mem_rank(m), g->count + i);
    size_t bytes = buffers_fragment_bytes(g->c, i), before = buffers_before(i);

    if (g->above >= 0)
        net_arrived(m, n, gate_incoming(i)); /* A3 */
    if (i == 0)
        buffers_compare(m, g->c, buffers_total(at));
    for (int child = 0; child < g->children; child++) {
        int to = nodes_gate(g->c, hud_shape_child(&g->tree, net_map(n)->node, child)),
            id = gate_outgoing(g, i, child);
        net_send(m, n, id, to, NET_BCAST, at - before, bytes + before); /* R3 */
    }
    buffers_post_ready(m, g->base + i + 1);
    if (g->above >= 0)
        mem_out(m, g->c->out, at, i * g->fragment_bytes, bytes);
}

static inline void gate_run(struct gate *g)
{
    const struct net_map *map = net_map(g->c->net);
    int above = hud_shape_parent(&g->tree, map->node);
    size_t begun = 0;

    g->above = above < 0 ? -1 : nodes_gate(g->c, above);
    while (hud_shape_child(&g->tree, map->node, g->children) >= 0)
        g->children++;
    for (size_t i = 0; i < g->fragments; i++) {
        while (begun < g->fragments && begun < i + (g->above < 0 ? 1 : GATE_AHEAD))
            gate_begin(g, begun++);
        gate_pass_on(g, i);
    }
    for (size_t i = g->fragments - (g->fragments < NODES_RING ? g->fragments : NODES_RING);
         i < g->fragments; i++)
        gate_complete_sends(g, i);
}

#endif
