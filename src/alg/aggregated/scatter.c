/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * scatter.c - short scatter of a span (aggregated.h).  The places of blocks: rooted.h.
 *
 * Source    Traff 2006: ranks of a node collect the data for another node.
 * Shape     The root writes all blocks and sends each node its aggregate, to its head.  Ranks copy
 *           out of the aggregate of their node.
 * Cost      One message into each node but the root's.
 * Accepts   All blocks together fit a set of the window.
 * Edges     R3 -> A3   an aggregate, to another node
 */
#include "alg/aggregated/rooted.h"

static void scatter_at_root(const struct aggregated_call *x)
{
    const struct coll *c = x->c;
    const struct mem_span from = block_at(c->in, c->bytes, x->self), to = { .view = c->out };

    rooted_move_all(x, false);
    aggregated_enter(x);
    for (int node = 0; node < x->map->nodes; node++)
        if (node != x->map->node) {
            const char *blocks = rooted_aggregate(x, node);
            size_t bytes = rooted_aggregate_bytes(x, node);
            net_send(x->m, c->net, node, x->map->head[node], NET_SCATTER, blocks, bytes); /* R3 */
        }
    rooted_keep_own(x, &to, &from);
    for (int node = 0; node < x->map->nodes; node++)
        if (node != x->map->node)
            net_sent(x->m, c->net, node);
}

static void scatter_aggregated(struct mem *m, const struct coll *c)
{
    struct aggregated_call x = aggregated_begin(m, c);

    if (rooted_is_root(&x)) {
        scatter_at_root(&x);
        return;
    }
    aggregated_enter(&x);
    if (rooted_here(&x)) {
        aggregated_await(&x, rooted_gate(&x));
    } else if (x.local == 0) {
        net_receive(m, c->net, 0, c->root, NET_SCATTER, aggregated_set(&x, 0),
                    rooted_aggregate_bytes(&x, x.map->node));
        net_arrived(m, c->net, 0); /* A3 */
        aggregated_announce(&x);
    } else {
        aggregated_await_arrival(&x, 0);
    }
    mem_out_last(m, c->out, rooted_own_block(&x), 0, c->bytes); /* only this rank reads it */
}

ALG_DEFINE(scatter, aggregated) = { .coll = "scatter",
                                    .name = "aggregated",
                                    .doc = "one message per node has all its blocks from the root",
                                    .source = "Traff 2006",
                                    .family = &HUD_BACKEND(aggregated_family),
                                    .accepts = rooted_accepts,
                                    .run = scatter_aggregated };
