/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * allgather.c - short allgather and allgatherv of a span (parcels.h).
 *
 * Source    Bruck et al. 1997, between nodes.
 * Shape     The head of node v has the parcels of nodes v, v + 1, ... one behind the other.  In
 *           round k = 1, 2, 4, ... it sends those that it has, k at most, to the head of node
 *           v - k, and receives those of node v + k and the following.  All ranks copy out of their
 *           head's window.
 * Cost      ceil(log2 N) messages out of each node, of N; n (N - 1) / N bytes of n in
 *           all if nodes have as many ranks.
 * Accepts   All blocks together fit a set of the window.
 * Edges     R3 -> A3   a parcel, to another node
 */
#include "alg/parcels/parcels.h"

enum { IN, OUT }; /* messages */

static size_t block_bytes(const struct parcels_call *x, bool parts, int rank)
{
    return parts ? x->c->out[rank].bytes : x->c->bytes;
}

static struct mem_span place_of(const struct parcels_call *x, bool parts, int rank)
{
    return parts ? (struct mem_span){ .view = &x->c->out[rank] }
                 : block_at(x->c->out, x->c->bytes, rank);
}

/* The node so many places behind another one. */
static int node_after(const struct parcels_call *x, int node, int places)
{
    return (node + places + x->map->nodes) % x->map->nodes;
}

static size_t parcel_bytes(const struct parcels_call *x, bool parts, int node)
{
    size_t bytes = 0;

    for (int i = 0; i < net_members(x->map, node); i++)
        bytes += block_bytes(x, parts, net_member(x->map, node, i));
    return bytes;
}

/* Of so many parcels, from that node's on. */
static size_t parcels_bytes(const struct parcels_call *x, bool parts, int node, int count)
{
    size_t bytes = 0;

    for (int i = 0; i < count; i++)
        bytes += parcel_bytes(x, parts, node_after(x, node, i));
    return bytes;
}

static void bring(const struct parcels_call *x, bool parts)
{
    const struct coll *c = x->c;
    bool within = !parts && coll_in_place(c);
    const struct mem_span from =
        within ? place_of(x, parts, x->self) : (struct mem_span){ .view = c->in };
    size_t begin = 0;

    for (int i = 0; i < x->local; i++)
        begin += block_bytes(x, parts, net_member(x->map, x->map->node, i));
    mem_in_all(x->m, parcels_set(x, 0) + begin, from.view, from.offset_bytes,
               block_bytes(x, parts, x->self));
}

static void exchange(const struct parcels_call *x, bool parts)
{
    enum net_tag tag = parts ? NET_ALLGATHERV : NET_ALLGATHER;
    struct net *net = x->c->net;
    int node = x->map->node, nodes = x->map->nodes;
    char *set = parcels_set(x, 0);

    for (int k = 1; k < nodes; k *= 2) {
        int count = k < nodes - k ? k : nodes - k, up = node_after(x, node, k),
            to = x->map->head[node_after(x, node, -k)];
        char *behind = set + parcels_bytes(x, parts, node, k);
        net_receive(x->m, net, IN, x->map->head[up], tag, behind,
                    parcels_bytes(x, parts, up, count));
        size_t bytes = parcels_bytes(x, parts, node, count);
        net_send(x->m, net, OUT, to, tag, set, bytes); /* R3 */
        net_arrived(x->m, net, IN);                    /* A3 */
        net_sent(x->m, net, OUT);
    }
}

/* Where ranks of nodes are in order and blocks equal, those of a node are one run. */
static void copy_out(const struct parcels_call *x, bool parts)
{
    const char *from = parcels_set(x, 0);
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
    struct parcels_call x = parcels_begin(m, c);

    bring(&x, parts);
    parcels_enter(&x);
    if (x.local == 0) {
        parcels_await_node(&x);
        exchange(&x, parts);
        parcels_announce(&x);
    }
    parcels_await_arrival(&x, 0);
    copy_out(&x, parts);
}

static void allgather_parcels(struct mem *m, const struct coll *c)
{
    run(m, c, false);
}

static bool accepts(const struct coll *c, int ranks)
{
    return c->bytes <= parcels_room(c) / (size_t)ranks;
}

ALG_DEFINE(allgather, parcels) = { .coll = "allgather",
                                   .name = "parcels",
                                   .doc = "blocks of a node travel together between heads",
                                   .source = "Bruck et al. 1997",
                                   .family = &HUD_BACKEND(parcels_family),
                                   .accepts = accepts,
                                   .run = allgather_parcels };

static void allgatherv_parcels(struct mem *m, const struct coll *c)
{
    run(m, c, true);
}

static bool accepts_parts(const struct coll *c, int ranks)
{
    size_t bytes = 0;

    for (int r = 0; r < ranks && bytes <= parcels_room(c); r++)
        bytes += c->out[r].bytes;
    return bytes <= parcels_room(c);
}

ALG_DEFINE(allgatherv, parcels) = { .coll = "allgatherv",
                                    .name = "parcels",
                                    .doc = "blocks of a node travel together between heads",
                                    .source = "Bruck et al. 1997",
                                    .family = &HUD_BACKEND(parcels_family),
                                    .accepts = accepts_parts,
                                    .run = allgatherv_parcels };
