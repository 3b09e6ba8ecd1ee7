/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gather.c - short gather of a span (parcels.h).  Where blocks are: rooted.h.
 *
 * Source    Traff 2006: ranks of a node collect what goes to another one.
 * Shape     Ranks write their blocks into the parcel of their node.  Heads send it to the root,
 *           which copies all blocks out.
 * Cost      One message out of each node but the root's.
 * Accepts   All blocks together fit a set of the window.
 * Edges     R3 -> A3   a parcel, to another node
 */
#include "alg/parcels/rooted.h"

static void gather_at_root(const struct parcels_call *x)
{
    const struct coll *c = x->c;
    const struct mem_span to = block_at(c->out, c->bytes, x->self), from = { .view = c->in };

    for (int node = 0; node < x->map->nodes; node++)
        if (node != x->map->node)
            net_receive(x->m, c->net, node, x->map->head[node], NET_GATHER, rooted_parcel(x, node),
                        rooted_parcel_bytes(x, node));
    parcels_enter(x);
    rooted_keep_own(x, &to, &from);
    parcels_await_node(x);
    for (int node = 0; node < x->map->nodes; node++)
        if (node != x->map->node)
            net_arrived(x->m, c->net, node); /* A3 */
    rooted_move_all(x, true);
}

static void gather_parcels(struct mem *m, const struct coll *c)
{
    struct parcels_call x = parcels_begin(m, c);
    size_t bytes = rooted_parcel_bytes(&x, x.map->node);

    if (rooted_is_root(&x)) {
        gather_at_root(&x);
        return;
    }
    mem_in_all(m, rooted_own_block(&x), c->in, 0, c->bytes);
    parcels_enter(&x);
    if (rooted_here(&x) || x.local != 0)
        return;
    parcels_await_node(&x);
    net_send(m, c->net, 0, c->root, NET_GATHER, parcels_set(&x, 0), bytes); /* R3 */
    net_sent(m, c->net, 0);
}

ALG_DEFINE(gather, parcels) = { .coll = "gather",
                                .name = "parcels",
                                .doc = "blocks of a node travel together to the root",
                                .source = "Traff 2006",
                                .family = &HUD_BACKEND(parcels_family),
                                .accepts = rooted_accepts,
                                .run = gather_parcels };
