/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bcast.c - broadcast of a span, in one pipeline from the root's node to the last rank.
 *
 * Source    Paper 04 (Pjesivac-Grbovic et al.: flat, chain, k-ary and k-nomial trees with segments)
 *           between nodes; paper 01 (a queue of buffers) within.
 * Shape     One rank of each node, its *gate*, has the ring: the root on its own node, the head on
 *           others.  It receives fragment i + 1 straight into a buffer while it sends fragment i
 *           from there to the nodes below it, and the ranks of its node copy out i - 1.
 *           Fragments may have another size in each call, up to that of a buffer.
 * Cost      n bytes into each node, in ceil(n / fragment) messages; one copy out for each rank, one
 *           copy in at the root.
 *
 * Line       written by   read by           meaning of value k = call * 2^24 + i + 1
 *   ready    the gate     its node          fragment i of the call is in its buffer
 *   taken    its owner    the gate          the owner has copied out fragment i, and all before it
 *   count    its owner    its owner         (a word) fragments of all calls so far, the same on all
 *                                           ranks of the node: they go round the ring
 *   used[b]  its owner    its owner         (a word) `ready` of what was last in its buffer b
 *
 * Edges     R1 -> A1   a fragment, to the ranks of the node
 *           R2 -> A2   a buffer that was copied out, before the next fragment is written there
 *           R3 -> A3   a fragment, to the nodes below
 * Deadlock  A gate starts its receives in order, at most AHEAD before the fragment that it passes
 *           on.  It then waits for the ranks of its node to take fragments that are ready, for
 *           nodes below to take fragments that were sent before, and for the node above: nodes form
 *           a tree, and fragments are in order on each edge.
 * Safety    1 A buffer is written after A2 of all ranks of the node for what was in it, also in an
 *             earlier call, and after the messages out of it are complete (net_sent).
 *           2 A call ends at a gate after its messages are complete.
 *           3 Between two nodes all calls have one tag, and messages are taken in the order of
 *             calls.
 */
#include "alg/nodes/nodes.h"

enum { AHEAD = NODES_RING / 2, FRAGMENT_BITS = 24 };

/* A gate's view of its call. */
struct gate {
    struct mem *m;
    const struct coll *c;
    struct nodes_lines *own;
    size_t fragment_bytes, fragments;
    uint64_t count;         /* before this call */
    uint64_t base;          /* value of `ready` before the first fragment */
    struct shape_tree tree; /* of nodes */
    int above;              /* rank to receive from; -1: this is the root */
    int children;
};

static struct nodes_lines *lines(struct mem *m, int rank)
{
    return mem_slot(m, rank);
}

/* Of the fragment with that number among those of all calls. */
static char *slot_of(struct mem *m, const struct coll *c, int rank, uint64_t number)
{
    return (char *)mem_window(m, rank) +
           number % NODES_RING * mem_lines((size_t)c->param[NODES_BUFFER]);
}

static size_t length_of(const struct coll *c, size_t i)
{
    size_t fragment = (size_t)c->param[NODES_FRAGMENT], left = c->bytes - i * fragment;

    return left < fragment ? left : fragment;
}

static size_t fragments_of(const struct coll *c)
{
    size_t fragment = (size_t)c->param[NODES_FRAGMENT];

    return (c->bytes + fragment - 1) / fragment;
}

static int incoming(size_t i)
{
    return (int)(i % NODES_RING);
}

static int outgoing(const struct gate *g, size_t i, int child)
{
    return NODES_RING + (int)(i % NODES_RING) * g->children + child;
}

/* The gate of a node. */
static int gate_of(const struct coll *c, int node)
{
    const struct net_map *map = net_map(c->net);

    return node == map->node_of[c->root] ? c->root : map->head[node];
}

static void complete_sends(const struct gate *g, size_t i)
{
    for (int child = 0; child < g->children; child++)
        net_sent(g->m, g->c->net, outgoing(g, i, child));
}

static void await_taken(const struct gate *g, uint64_t value)
{
    for (int r = 0; r < mem_size(g->m); r++)
        if (r != mem_rank(g->m))
            mem_await(g->m, &lines(g->m, r)->taken, value); /* A2 */
}

/* Fragment i gets its buffer, and begins to come. */
static void begin(const struct gate *g, size_t i)
{
    struct mem *m = g->m;
    char *at = slot_of(m, g->c, mem_rank(m), g->count + i);
    uint64_t *used = &g->own->used[(g->count + i) % NODES_RING], before = mem_get(m, used);

    if (i >= NODES_RING)
        complete_sends(g, i - NODES_RING);
    if (before != 0)
        await_taken(g, before);
    mem_put(m, used, g->base + i + 1);
    if (g->above < 0)
        mem_in_all(m, at, g->c->out, i * g->fragment_bytes, length_of(g->c, i));
    else
        net_receive(m, g->c->net, incoming(i), g->above, NET_BCAST, at, length_of(g->c, i));
}

/* It has come. */
static void pass_on(const struct gate *g, size_t i)
{
    struct mem *m = g->m;
    struct net *n = g->c->net;
    const char *at = slot_of(m, g->c, mem_rank(m), g->count + i);
    size_t bytes = length_of(g->c, i);

    if (g->above >= 0)
        net_arrived(m, n, incoming(i)); /* A3 */
    for (int child = 0; child < g->children; child++) {
        int to = gate_of(g->c, hud_shape_child(&g->tree, net_map(n)->node, child)),
            id = outgoing(g, i, child);
        net_send(m, n, id, to, NET_BCAST, at, bytes); /* R3 */
    }
    if (mem_size(m) > 1)
        mem_post(m, &g->own->ready, g->base + i + 1); /* R1 */
    if (g->above >= 0)
        mem_out(m, g->c->out, at, i * g->fragment_bytes, bytes);
}

static void run_gate(struct mem *m, const struct coll *c, uint64_t base, uint64_t count)
{
    const struct net_map *map = net_map(c->net);
    struct gate g = { .m = m,
                      .c = c,
                      .own = lines(m, mem_rank(m)),
                      .fragment_bytes = (size_t)c->param[NODES_FRAGMENT],
                      .fragments = fragments_of(c),
                      .count = count,
                      .base = base,
                      .tree = { .kind = (enum shape_kind)c->param[NODES_TREE],
                                .degree = (int)c->param[NODES_DEGREE],
                                .ranks = map->nodes,
                                .root = map->node_of[c->root] } };
    int above = hud_shape_parent(&g.tree, map->node);
    size_t begun = 0;

    g.above = above < 0 ? -1 : gate_of(c, above);
    while (hud_shape_child(&g.tree, map->node, g.children) >= 0)
        g.children++;
    for (size_t i = 0; i < g.fragments; i++) {
        while (begun < g.fragments && begun < i + (g.above < 0 ? 1 : AHEAD))
            begin(&g, begun++);
        pass_on(&g, i);
    }
    for (size_t i = g.fragments - (g.fragments < NODES_RING ? g.fragments : NODES_RING);
         i < g.fragments; i++)
        complete_sends(&g, i);
}

static void bcast_run(struct mem *m, const struct coll *c)
{
    const struct net_map *map = net_map(c->net);
    struct nodes_lines *own = lines(m, mem_rank(m));
    uint64_t base = c->op << FRAGMENT_BITS, count = mem_get(m, &own->count);
    int gate = map->local_of[gate_of(c, map->node)], rank = mem_rank(m);

    mem_put(m, &own->count, count + fragments_of(c));
    if (rank == gate) {
        run_gate(m, c, base, count);
        return;
    }
    for (size_t i = 0; i < fragments_of(c); i++) {
        mem_await(m, &lines(m, gate)->ready, base + i + 1); /* A1 */
        mem_out(m, c->out, slot_of(m, c, gate, count + i), i * (size_t)c->param[NODES_FRAGMENT],
                length_of(c, i));
        mem_post(m, &own->taken, base + i + 1); /* R2 */
    }
}

/* Fragments have numbers. */
static bool bcast_accepts(const struct coll *c, int ranks)
{
    (void)ranks;
    return fragments_of(c) < (size_t)1 << FRAGMENT_BITS;
}

ALG_DEFINE(bcast, nodes) = { .coll = "bcast",
                             .name = "nodes",
                             .doc = "a tree of nodes, fed from each node's queue of buffers",
                             .source = "paper 04; paper 01, queue of buffers",
                             .family = &HUD_BACKEND(nodes_family),
                             .accepts = bcast_accepts,
                             .run = bcast_run };
