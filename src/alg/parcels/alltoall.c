/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * alltoall.c - short alltoall of a span (parcels.h).
 *
 * Source    Traff 2006: ranks of a node collect what goes to another one.
 * Shape     Each pair of nodes has a parcel each way.  Ranks of a node share the work: that with
 *           number v modulo their number sends to node v and receives from it.
 * Cost      N - 1 messages out of each node, of N.
 * Accepts   The parcels of any rank fit a set of the window.
 * Edges     R3 -> A3   a parcel, to another node
 *
 * In place, all blocks are copied in before the first one is copied out.
 */
#include "alg/parcels/parcels.h"

/* Parcels each way, at most, of a rank of a node with so many. */
static int parcels_of_rank(const struct net_map *map, int members)
{
    return (map->nodes + members - 1) / members;
}

/* Whole lines, so that what one rank receives is in no line of another parcel. */
static size_t parcel_room(const struct coll *c, int members)
{
    return mem_lines(c->bytes * (size_t)members * (size_t)net_max_members(net_map(c->net)));
}

/* The parcel for a node, or from it: in the window of the rank that sends and receives it. */
static char *parcel(const struct parcels_call *x, int node, bool comes)
{
    int index = node / x->locals + (comes ? parcels_of_rank(x->map, x->locals) : 0);

    return parcels_set(x, node % x->locals) + (size_t)index * parcel_room(x->c, x->locals);
}

/* Blocks are in a parcel sender by sender. */
static size_t at(const struct parcels_call *x, int from, int members, int to)
{
    return ((size_t)from * (size_t)members + (size_t)to) * x->c->bytes;
}

static void bring(const struct parcels_call *x)
{
    size_t bytes = x->c->bytes;
    bool runs = net_in_ranges(x->map);

    for (int node = 0; node < x->map->nodes; node++) {
        int members = net_members(x->map, node);
        for (int to = 0; to < (runs ? 1 : members); to++)
            mem_in_all(x->m, parcel(x, node, false) + at(x, x->local, members, to), x->c->in,
                       (size_t)net_member(x->map, node, to) * bytes,
                       bytes * (size_t)(runs ? members : 1));
    }
}

/* The rank of a node that exchanges with this one's node. */
static int peer(const struct parcels_call *x, int node)
{
    return net_member(x->map, node, x->map->node % net_members(x->map, node));
}

/* Nodes that this rank exchanges with: from its own number on, in steps of the node's ranks. */
static void exchange(const struct parcels_call *x)
{
    struct net *net = x->c->net;
    int nodes = x->map->nodes, own = x->map->node, step = x->locals;
    size_t blocks = (size_t)x->locals * x->c->bytes;

    for (int node = x->local; node < nodes; node += step)
        if (node != own)
            net_receive(x->m, net, node, peer(x, node), NET_ALLTOALL, parcel(x, node, true),
                        blocks * (size_t)net_members(x->map, node));
    if (x->local < nodes)
        parcels_await_node(x);
    for (int node = x->local; node < nodes; node += step)
        if (node != own) {
            size_t bytes = blocks * (size_t)net_members(x->map, node);
            const char *from = parcel(x, node, false);
            net_send(x->m, net, nodes + node, peer(x, node), NET_ALLTOALL, from, bytes); /* R3 */
        }
    for (int node = x->local; node < nodes; node += step)
        if (node != own)
            net_arrived(x->m, net, node); /* A3 */
    parcels_announce(x);
    for (int node = x->local; node < nodes; node += step)
        if (node != own)
            net_sent(x->m, net, nodes + node);
}

static void copy_out(const struct parcels_call *x, int node)
{
    bool here = node == x->map->node;

    if (!here)
        parcels_await_arrival(x, node % x->locals);
    for (int from = 0; from < net_members(x->map, node); from++) {
        if (here)
            parcels_await(x, from);
        mem_out(x->m, x->c->out, parcel(x, node, !here) + at(x, from, x->locals, x->local),
                (size_t)net_member(x->map, node, from) * x->c->bytes, x->c->bytes);
    }
}

static void alltoall_parcels(struct mem *m, const struct coll *c)
{
    struct parcels_call x = parcels_begin(m, c);

    bring(&x);
    parcels_enter(&x);
    exchange(&x);
    for (int i = 0; i < x.map->nodes; i++)
        copy_out(&x, (x.map->node + i) % x.map->nodes);
}

static bool accepts(const struct coll *c, int ranks)
{
    const struct net_map *map = net_map(c->net);
    bool fits = c->bytes <= parcels_room(c) / (size_t)ranks;

    for (int node = 0; node < map->nodes; node++) {
        int members = net_members(map, node);
        fits = fits && 2 * (size_t)parcels_of_rank(map, members) * parcel_room(c, members) <=
                           parcels_room(c);
    }
    return fits;
}

ALG_DEFINE(alltoall, parcels) = { .coll = "alltoall",
                                  .name = "parcels",
                                  .doc = "blocks from one node to another travel together",
                                  .source = "Traff 2006",
                                  .family = &HUD_BACKEND(parcels_family),
                                  .accepts = accepts,
                                  .run = alltoall_parcels };
