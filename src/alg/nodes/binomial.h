/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * binomial.h - sums of nodes, combined up a binomial tree of nodes (reduce.c).
 *
 * Source    Thakur, Rabenseifner, Gropp 2005 (binomial trees).
 * Shape     The gate of a node has the sum of its node.  It adds the sums that come from its
 *           children in the tree, and sends the result to its parent.
 * Cost      One message of n bytes out of each node but the root's.
 *
 * Edges     R3 -> A3   a sum, to another node
 * Deadlock  A gate waits for messages of nodes below it in the tree.
 * Safety    A gate has no contribution in its buffer, so the buffer can receive a message.
 */
#ifndef HUD_ALG_BINOMIAL_H
#define HUD_ALG_BINOMIAL_H

#include "alg/nodes/nodes.h"

enum { BINOMIAL_IN, BINOMIAL_AFTER, BINOMIAL_OUT }; /* numbers of messages */

static inline void binomial_give(struct mem *m, const struct coll *c, int to)
{
    const void *sum = nodes_buffer(m, c, mem_rank(m), NODES_SUM);

    net_send(m, c->net, BINOMIAL_OUT, to, NET_REDUCE, sum, c->bytes); /* R3 */
}

static inline void binomial_expect(struct mem *m, const struct coll *c, int from, int id,
                                   enum nodes_buffer which)
{
    net_receive(m, c->net, id, from, NET_REDUCE, nodes_buffer(m, c, mem_rank(m), which), c->bytes);
}

/* Combines the sums of the children.  At most two messages are in flight, into alternate buffers.
 * The nearest children come first, because they have the fewest nodes below them. */
static inline void binomial_combine_children(struct mem *m, const struct coll *c,
                                             const struct shape_tree *tree)
{
    static const enum nodes_buffer into[] = { NODES_COMING, NODES_GIVEN };
    static const int ids[] = { BINOMIAL_IN, BINOMIAL_AFTER };
    int node = net_map(c->net)->node, children = 0;

    while (hud_shape_child(tree, node, children) >= 0)
        children++;
    for (int i = 0; i <= children; i++) {
        int turn = i % 2;
        if (i < children) {
            int child = hud_shape_child(tree, node, children - 1 - i);
            binomial_expect(m, c, nodes_gate(c, child), ids[turn], into[turn]);
        }
        if (i > 0) {
            net_arrived(m, c->net, ids[1 - turn]); /* A3 */
            nodes_combine(m, c, into[1 - turn], false);
        }
    }
}

/* Adds the sums of the nodes below to a gate's sum.  Returns true on the root, which then has the
 * sum of all nodes. */
static inline bool binomial_run(struct mem *m, const struct coll *c)
{
    const struct net_map *map = net_map(c->net);
    const struct shape_tree tree = {
        .kind = SHAPE_KNOMIAL, .degree = 2, .ranks = map->nodes, .root = map->node_of[c->root]
    };
    int above = hud_shape_parent(&tree, map->node);

    binomial_combine_children(m, c, &tree);
    if (above < 0)
        return true;
    binomial_give(m, c, nodes_gate(c, above));
    net_sent(m, c->net, BINOMIAL_OUT);
    return false;
}

#endif
