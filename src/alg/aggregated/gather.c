/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gather.c - short gather of a span (aggregated.h).  The places of blocks: rooted.h.
 *
 * Source    Traff 2006: ranks of a node collect the data for another node.
 * Shape     Ranks write their blocks into the aggregate of their node.  Heads send it to the root,
 *           which copies all blocks out.
 * Cost      One message out of each node but the root's.
 * Accepts   All blocks together fit a set of the window.
 * Edges     R3 -> A3   an aggregate, to another node
 */
#include "alg/aggregated/rooted.h"

static void gather_at_root(const struct aggregated_call *x)
{
    const struct coll *c = x->c;
    const struct mem_span to = block_at(c->out, c->bytes, x->self), from = { .view = c->in };

    for (int node = 0; node < x->map->nodes; node++)
        if (node != x->map->node)
            net_receive(x->m, c->net, node, x->map->head[node], NET_GATHER,
                        rooted_aggregate(x, node), rooted_aggregate_bytes(x, node));
    aggregated_enter(x);
    rooted_keep_own(x, &to, &from);
    aggregated_await_node(x);
    for (int node = 0; node < x->map->nodes; node++)
        if (node != x->map->node)
            net_arrived(x->m, c->net, node); /* A3 */
    rooted_move_all(x, true);
}

static void gather_aggregated(struct mem *m, const struct coll *c)
{
    struct aggregated_call x = aggregated_begin(m, c);
    size_t bytes = rooted_aggregate_bytes(&x, x.map->node);

    if (rooted_is_root(&x)) {
        gather_at_root(&x);
        return;
    }
    mem_in_all(m, rooted_own_block(&x), c->in, 0, c->bytes);
    aggregated_enter(&x);
    if (rooted_here(&x) || x.local != 0)
        return;
    aggregated_await_node(&x);
    net_send(m, c->net, 0, c->root, NET_GATHER, aggregated_set(&x, 0), bytes); /* R3 */
    net_sent(m, c->net, 0);
}

ALG_DEFINE(gather, aggregated) = { .coll = "gather",
                                   .name = "aggregated",
                                   .doc = "one message per node has all its blocks for the root",
                                   .source = "Traff 2006",
                                   .family = &HUD_BACKEND(aggregated_family),
                                   .accepts = rooted_accepts,
                                   .run = gather_aggregated };
