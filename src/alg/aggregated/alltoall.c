/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * alltoall.c - short alltoall of a span (aggregated.h).
 *
 * Source    Traff 2006: ranks of a node collect the data for another node.
 * Shape     Each pair of nodes has an aggregate for each direction.  The ranks of a node share the
 *           work: the rank with number v modulo the number of ranks sends to node v and receives
 *           from it.
 * Cost      N - 1 messages out of each of N nodes.
 * Accepts   The aggregates of any rank fit a set of the window.
 * Edges     R3 -> A3   an aggregate, to another node
 *
 * In place, all blocks are copied in before the first one is copied out.
 */
#include "alg/aggregated/aggregated.h"

/* Returns the maximum number of aggregates, in each direction, of a rank of a node with `members`
 * ranks. */
static int aggregates_of_rank(const struct net_map *map, int members)
{
    return (map->nodes + members - 1) / members;
}

/* Returns the bytes of an aggregate, in whole lines, so that no line has parts of two aggregates.
 * */
static size_t aggregate_room(const struct coll *c, int members)
{
    return mem_lines(c->bytes * (size_t)members * (size_t)net_max_members(net_map(c->net)));
}

/* Returns the aggregate for a node, or from a node, in the window of the rank that sends or
 * receives the aggregate. */
static char *aggregate(const struct aggregated_call *x, int node, bool comes)
{
    int index = node / x->locals + (comes ? aggregates_of_rank(x->map, x->locals) : 0);

    return aggregated_set(x, node % x->locals) + (size_t)index * aggregate_room(x->c, x->locals);
}

/* Returns the offset of a block in an aggregate.  Blocks are ordered by sender. */
static size_t at(const struct aggregated_call *x, int from, int members, int to)
{
    return ((size_t)from * (size_t)members + (size_t)to) * x->c->bytes;
}

static void bring(const struct aggregated_call *x)
{
    size_t bytes = x->c->bytes;
    bool runs = net_in_ranges(x->map);

    for (int node = 0; node < x->map->nodes; node++) {
        int members = net_members(x->map, node);
        for (int to = 0; to < (runs ? 1 : members); to++)
            mem_in_all(x->m, aggregate(x, node, false) + at(x, x->local, members, to), x->c->in,
                       (size_t)net_member(x->map, node, to) * bytes,
                       bytes * (size_t)(runs ? members : 1));
    }
}

/* Returns the rank of a node that exchanges with this rank's node. */
static int peer(const struct aggregated_call *x, int node)
{
    return net_member(x->map, node, x->map->node % net_members(x->map, node));
}

/* Exchanges aggregates with the nodes of this rank: from its own number on, in steps of the number
 * of ranks of its node. */
static void exchange(const struct aggregated_call *x)
{
    struct net *net = x->c->net;
    int nodes = x->map->nodes, own = x->map->node, step = x->locals;
    size_t blocks = (size_t)x->locals * x->c->bytes;

    for (int node = x->local; node < nodes; node += step)
        if (node != own)
            net_receive(x->m, net, node, peer(x, node), NET_ALLTOALL, aggregate(x, node, true),
                        blocks * (size_t)net_members(x->map, node));
    if (x->local < nodes)
        aggregated_await_node(x);
    for (int node = x->local; node < nodes; node += step)
        if (node != own) {
            size_t bytes = blocks * (size_t)net_members(x->map, node);
            const char *from = aggregate(x, node, false);
            net_send(x->m, net, nodes + node, peer(x, node), NET_ALLTOALL, from, bytes); /* R3 */
        }
    for (int node = x->local; node < nodes; node += step)
        if (node != own)
            net_arrived(x->m, net, node); /* A3 */
    aggregated_announce(x);
    for (int node = x->local; node < nodes; node += step)
        if (node != own)
            net_sent(x->m, net, nodes + node);
}

/* Copies out the blocks from a node.  No other rank reads the blocks for this rank. */
static void copy_out(const struct aggregated_call *x, int node)
{
    bool here = node == x->map->node;

    if (!here)
        aggregated_await_arrival(x, node % x->locals);
    for (int from = 0; from < net_members(x->map, node); from++) {
        if (here)
            aggregated_await(x, from);
        mem_out_last(x->m, x->c->out, aggregate(x, node, !here) + at(x, from, x->locals, x->local),
                     (size_t)net_member(x->map, node, from) * x->c->bytes, x->c->bytes);
    }
}

static void alltoall_aggregated(struct mem *m, const struct coll *c)
{
    struct aggregated_call x = aggregated_begin(m, c);

    bring(&x);
    aggregated_enter(&x);
    exchange(&x);
    for (int i = 0; i < x.map->nodes; i++)
        copy_out(&x, (x.map->node + i) % x.map->nodes);
}

static bool accepts(const struct coll *c, int ranks)
{
    const struct net_map *map = net_map(c->net);
    bool fits = c->bytes <= aggregated_room(c) / (size_t)ranks;

    for (int node = 0; node < map->nodes; node++) {
        int members = net_members(map, node);
        fits = fits && 2 * (size_t)aggregates_of_rank(map, members) * aggregate_room(c, members) <=
                           aggregated_room(c);
    }
    return fits;
}

ALG_DEFINE(alltoall, aggregated) = { .coll = "alltoall",
                                     .name = "aggregated",
                                     .doc = "one message has all blocks from one node to another",
                                     .source = "Traff 2006",
                                     .family = &HUD_BACKEND(aggregated_family),
                                     .accepts = accepts,
                                     .run = alltoall_aggregated };
