/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * doubling.h - sums of nodes, combined between their heads (allreduce.c).
 *
 * Source    Thakur, Rabenseifner, Gropp 2005 (recursive doubling).
 * Shape     Of N nodes, with P the largest power of two that is not larger than N, the first 2 (N -
 *           P) nodes form pairs: the lower node of a pair gives its sum to the upper node, and gets
 *           the result.  The upper nodes and all other nodes are P heads.  In steps k = 1, 2, 4,
 *           ... each head exchanges its sum with the head whose number among them differs in that
 *           bit.
 * Cost      Messages of n bytes: floor(log2 N) from each head, one more from the upper node of a
 *           pair, one in all from the lower node; floor(log2 N) + 2 one after the other if there
 *           are pairs.
 *
 * Edges     R3 -> A3   a sum, to another node
 * Deadlock  A head waits for messages of a step, whose senders wait only for earlier steps.
 *           Finally the lower node of a pair waits for the result.
 * Safety    1 A sum that is being sent is combined further only after net_sent.
 *           2 Both heads of an exchange combine the sum of the lower nodes with the sum of the
 *           upper nodes, in this order, so all get the same bits.
 */
#ifndef HUD_ALG_DOUBLING_H
#define HUD_ALG_DOUBLING_H

#include "alg/nodes/nodes.h"

enum { DOUBLING_IN, DOUBLING_OUT }; /* numbers of messages */

/* Starts the send of this node's sum to another node. */
static inline void doubling_give(struct mem *m, const struct coll *c, int node)
{
    const void *sum = nodes_buffer(m, c, 0, NODES_SUM);
    int to = net_map(c->net)->head[node];

    net_send(m, c->net, DOUBLING_OUT, to, NET_ALLREDUCE, sum, c->bytes); /* R3 */
}

static inline void doubling_expect(struct mem *m, const struct coll *c, int node,
                                   enum nodes_buffer which)
{
    const struct net_map *map = net_map(c->net);

    net_receive(m, c->net, DOUBLING_IN, map->head[node], NET_ALLREDUCE,
                nodes_buffer(m, c, 0, which), c->bytes);
}

/* Carries out the steps among the P heads.  `self` is this head's number among them. */
static inline void doubling_steps(struct mem *m, const struct coll *c, int self, int power,
                                  int pairs)
{
    for (int k = 1; k < power; k *= 2) {
        int other = self ^ k, node = other < pairs ? 2 * other + 1 : other + pairs;
        doubling_expect(m, c, node, NODES_COMING);
        doubling_give(m, c, node);
        net_arrived(m, c->net, DOUBLING_IN); /* A3 */
        net_sent(m, c->net, DOUBLING_OUT);
        nodes_combine(m, c, NODES_COMING, other < self);
    }
}

/* Replaces the sum of this node by the sum of all nodes, on the head of the node. */
static inline void doubling_run(struct mem *m, const struct coll *c)
{
    const struct net_map *map = net_map(c->net);
    int power = 1, node = map->node;

    while (2 * power <= map->nodes)
        power *= 2;
    int pairs = map->nodes - power;
    bool paired = node < 2 * pairs;
    if (paired && node % 2 == 0) {
        doubling_give(m, c, node + 1);
        net_sent(m, c->net, DOUBLING_OUT);
        doubling_expect(m, c, node + 1, NODES_SUM);
        net_arrived(m, c->net, DOUBLING_IN); /* A3 */
        return;
    }
    if (paired) {
        doubling_expect(m, c, node - 1, NODES_COMING);
        net_arrived(m, c->net, DOUBLING_IN); /* A3 */
        nodes_combine(m, c, NODES_COMING, true);
    }
    doubling_steps(m, c, paired ? node / 2 : node - pairs, power, pairs);
    if (paired) {
        doubling_give(m, c, node - 1);
        net_sent(m, c->net, DOUBLING_OUT);
    }
}

#endif
