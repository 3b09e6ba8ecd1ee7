/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * allgather.c - short allgather and allgatherv of a span (aggregated.h).
 *
 * Source    Bruck et al. 1997, between nodes.
 * Shape     The head of node v has the aggregates of nodes v, v + 1, ... one after the other.  In
 *           round k = 1, 2, 4, ... it sends the aggregates that it has, at most k, to the head of
 *           node v - k, and receives the aggregates of node v + k and the following nodes.  All
 *           ranks copy out of their head's window.
 * Cost      ceil(log2 N) messages out of each of N nodes; n (N - 1) / N bytes of n in all if nodes
 *           have equal numbers of ranks.
 * Accepts   All blocks together fit a set of the window.
 * Edges     R3 -> A3   an aggregate, to another node
 */
#include "alg/aggregated/aggregated.h"

enum { IN, OUT }; /* numbers of messages */

static size_t block_bytes(const struct aggregated_call *x, bool parts, int rank)
{
    return parts ? x->c->out[rank].bytes : x->c->bytes;
}

static struct mem_span place_of(const struct aggregated_call *x, bool parts, int rank)
{
    return parts ? (struct mem_span){ .view = &x->c->out[rank] }
                 : block_at(x->c->out, x->c->bytes, rank);
}

/* Returns the node `places` places behind another node. */
static int node_after(const struct aggregated_call *x, int node, int places)
{
    return (node + places + x->map->nodes) % x->map->nodes;
}

static size_t aggregate_bytes(const struct aggregated_call *x, bool parts, int node)
{
    size_t bytes = 0;

    for (int i = 0; i < net_members(x->map, node); i++)
        bytes += block_bytes(x, parts, net_member(x->map, node, i));
    return bytes;
}

/* Returns the bytes of `count` aggregates, from the aggregate of a node on. */
static size_t aggregates_bytes(const struct aggregated_call *x, bool parts, int node, int count)
{
    size_t bytes = 0;

    for (int i = 0; i < count; i++)
        bytes += aggregate_bytes(x, parts, node_after(x, node, i));
    return bytes;
}

static void bring(const struct aggregated_call *x, bool parts)
{
    const struct coll *c = x->c;
    bool within = !parts && coll_in_place(c);
    const struct mem_span from =
        within ? place_of(x, parts, x->self) : (struct mem_span){ .view = c->in };
    size_t begin = 0;

    for (int i = 0; i < x->local; i++)
        begin += block_bytes(x, parts, net_member(x->map, x->map->node, i));
    mem_in_all(x->m, aggregated_set(x, 0) + begin, from.view, from.offset_bytes,
               block_bytes(x, parts, x->self));
}

static void exchange(const struct aggregated_call *x, bool parts)
{
    enum net_tag tag = parts ? NET_ALLGATHERV : NET_ALLGATHER;
    struct net *net = x->c->net;
    int node = x->map->node, nodes = x->map->nodes;
    char *set = aggregated_set(x, 0);

    for (int k = 1; k < nodes; k *= 2) {
        int count = k < nodes - k ? k : nodes - k, up = node_after(x, node, k),
            to = x->map->head[node_after(x, node, -k)];
        char *behind = set + aggregates_bytes(x, parts, node, k);
        net_receive(x->m, net, IN, x->map->head[up], tag, behind,
                    aggregates_bytes(x, parts, up, count));
        size_t bytes = aggregates_bytes(x, parts, node, count);
        net_send(x->m, net, OUT, to, tag, set, bytes); /* R3 */
        net_arrived(x->m, net, IN);                    /* A3 */
        net_sent(x->m, net, OUT);
    }
}

/* Copies all blocks out.  If the ranks of nodes are in order and blocks are equal, the blocks of a
 * node are one run. */
static void copy_out(const struct aggregated_call *x, bool parts)
{
    const char *from = aggregated_set(x, 0);
    bool runs = !parts && net_in_ranges(x->map);

    for (int i = 0; i < x->map->nodes; i++) {
        int node = node_after(x, x->map->node, i), members = net_members(x->map, node);
        for (int local = 0; local < (runs ? 1 : members); local++) {
            int rank = net_member(x->map, node, local);
            const struct mem_span to = place_of(x, parts, rank);
            size_t bytes = block_bytes(x, parts, rank) * (size_t)(runs ? members : 1);
            mem_out(x->m, to.view, from, to.offset_bytes, bytes);
            from += bytes;
        }
    }
}

static void run(struct mem *m, const struct coll *c, bool parts)
{
    struct aggregated_call x = aggregated_begin(m, c);

    bring(&x, parts);
    aggregated_enter(&x);
    if (x.local == 0) {
        aggregated_await_node(&x);
        exchange(&x, parts);
        aggregated_announce(&x);
    }
    aggregated_await_arrival(&x, 0);
    copy_out(&x, parts);
}

static void allgather_aggregated(struct mem *m, const struct coll *c)
{
    run(m, c, false);
}

static bool accepts(const struct coll *c, int ranks)
{
    return c->bytes <= aggregated_room(c) / (size_t)ranks;
}

ALG_DEFINE(allgather, aggregated) = {
    .coll = "allgather",
    .name = "aggregated",
    .doc = "one message has all blocks of a node; one rank per node sends and receives",
    .source = "Bruck et al. 1997",
    .family = &HUD_BACKEND(aggregated_family),
    .accepts = accepts,
    .run = allgather_aggregated
};

static void allgatherv_aggregated(struct mem *m, const struct coll *c)
{
    run(m, c, true);
}

static bool accepts_parts(const struct coll *c, int ranks)
{
    size_t bytes = 0;

    for (int r = 0; r < ranks && bytes <= aggregated_room(c); r++)
        bytes += c->out[r].bytes;
    return bytes <= aggregated_room(c);
}

ALG_DEFINE(allgatherv, aggregated) = {
    .coll = "allgatherv",
    .name = "aggregated",
    .doc = "one message has all blocks of a node; one rank per node sends and receives",
    .source = "Bruck et al. 1997",
    .family = &HUD_BACKEND(aggregated_family),
    .accepts = accepts_parts,
    .run = allgatherv_aggregated
};
