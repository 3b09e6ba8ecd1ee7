/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rooted.c - short gather and scatter of a span (parcels.h).
 *
 * Source    Traff 2006: ranks of a node collect what goes to another one.
 * Shape     The root's window has the blocks of all ranks, node by node.  Each other node has a
 *           parcel with those of its ranks in the window of its head.  In a gather ranks write, and
 *           heads send to the root, which copies out.  In a scatter the root writes and sends, and
 *           ranks copy out.  Ranks of the root's node write and read in the root's window.
 * Cost      One message out of, or into, each node but the root's.
 * Accepts   All blocks together fit a set of the window.
 * Edges     R3 -> A3   a parcel, to another node
 */
#include "alg/parcels/parcels.h"

/* The rank of this node with its parcel. */
static int gate_of(const struct parcels_call *x)
{
    return x->map->node_of[x->c->root] == x->map->node ? x->map->local_of[x->c->root] : 0;
}

static bool is_root(const struct parcels_call *x)
{
    return x->self == x->c->root;
}

static bool has_root(const struct parcels_call *x)
{
    return x->map->node_of[x->c->root] == x->map->node;
}

/* A node's parcel in the root's window; its bytes. */
static char *at_root(const struct parcels_call *x, int node)
{
    return parcels_set(x, x->local) + (size_t)x->map->first[node] * x->c->bytes;
}

static size_t parcel_bytes(const struct parcels_call *x, int node)
{
    return (size_t)net_members(x->map, node) * x->c->bytes;
}

/* This rank's block, where it is written or read. */
static char *own_block(const struct parcels_call *x)
{
    int before = has_root(x) ? x->map->first[x->map->node] : 0;

    return parcels_set(x, gate_of(x)) + (size_t)(before + x->local) * x->c->bytes;
}

/* The root's own block, from `in` to `out`. */
static void keep_own(const struct parcels_call *x, const struct mem_span *to,
                     const struct mem_span *from)
{
    if (!coll_in_place(x->c))
        mem_move(x->m, to, from, x->c->bytes);
}

/* Blocks between the root's window and its view: those of all other ranks; where they are in order,
 * in runs. */
static void move_all(const struct parcels_call *x, bool out)
{
    const struct net_map *map = x->map;
    size_t bytes = x->c->bytes;
    char *set = parcels_set(x, x->local);

    for (int i = 0, run; i < map->ranks; i += run) {
        int rank = map->member[i];
        run = 1;
        if (rank == x->self)
            continue;
        while (i + run < map->ranks && map->member[i + run] == rank + run &&
               map->member[i + run] != x->self)
            run++;
        size_t offset = (size_t)rank * bytes, length = (size_t)run * bytes;
        if (out)
            mem_out(x->m, x->c->out, set + (size_t)i * bytes, offset, length);
        else
            mem_in_all(x->m, set + (size_t)i * bytes, x->c->in, offset, length);
    }
}

/* ---- gather ---- */

static void gather_at_root(const struct parcels_call *x)
{
    const struct coll *c = x->c;
    const struct mem_span to = block_at(c->out, c->bytes, x->self), from = { .view = c->in };

    for (int node = 0; node < x->map->nodes; node++)
        if (node != x->map->node)
            net_receive(x->m, c->net, node, x->map->head[node], NET_GATHER, at_root(x, node),
                        parcel_bytes(x, node));
    parcels_enter(x);
    keep_own(x, &to, &from);
    parcels_await_node(x);
    for (int node = 0; node < x->map->nodes; node++)
        if (node != x->map->node)
            net_arrived(x->m, c->net, node); /* A3 */
    move_all(x, true);
}

static void gather_parcels(struct mem *m, const struct coll *c)
{
    struct parcels_call x = parcels_begin(m, c);
    size_t bytes = parcel_bytes(&x, x.map->node);

    if (is_root(&x)) {
        gather_at_root(&x);
        return;
    }
    mem_in_all(m, own_block(&x), c->in, 0, c->bytes);
    parcels_enter(&x);
    if (has_root(&x) || x.local != 0)
        return;
    parcels_await_node(&x);
    net_send(m, c->net, 0, c->root, NET_GATHER, parcels_set(&x, 0), bytes); /* R3 */
    net_sent(m, c->net, 0);
}

static bool accepts(const struct coll *c, int ranks)
{
    return c->bytes <= parcels_room(c) / (size_t)ranks;
}

ALG_DEFINE(gather, parcels) = { .coll = "gather",
                                .name = "parcels",
                                .doc = "blocks of a node travel together to the root",
                                .source = "Traff 2006",
                                .family = &HUD_BACKEND(parcels_family),
                                .accepts = accepts,
                                .run = gather_parcels };

/* ---- scatter ---- */

static void scatter_at_root(const struct parcels_call *x)
{
    const struct coll *c = x->c;
    const struct mem_span from = block_at(c->in, c->bytes, x->self), to = { .view = c->out };

    move_all(x, false);
    parcels_enter(x);
    for (int node = 0; node < x->map->nodes; node++)
        if (node != x->map->node) {
            const char *blocks = at_root(x, node);
            size_t bytes = parcel_bytes(x, node);
            net_send(x->m, c->net, node, x->map->head[node], NET_SCATTER, blocks, bytes); /* R3 */
        }
    keep_own(x, &to, &from);
    for (int node = 0; node < x->map->nodes; node++)
        if (node != x->map->node)
            net_sent(x->m, c->net, node);
}

static void scatter_parcels(struct mem *m, const struct coll *c)
{
    struct parcels_call x = parcels_begin(m, c);

    if (is_root(&x)) {
        scatter_at_root(&x);
        return;
    }
    parcels_enter(&x);
    if (has_root(&x)) {
        parcels_await(&x, gate_of(&x));
    } else if (x.local == 0) {
        net_receive(m, c->net, 0, c->root, NET_SCATTER, parcels_set(&x, 0),
                    parcel_bytes(&x, x.map->node));
        net_arrived(m, c->net, 0); /* A3 */
        parcels_announce(&x);
    } else {
        parcels_await_arrival(&x, 0);
    }
    mem_out(m, c->out, own_block(&x), 0, c->bytes);
}

ALG_DEFINE(scatter, parcels) = { .coll = "scatter",
                                 .name = "parcels",
                                 .doc = "blocks of a node travel together from the root",
                                 .source = "Traff 2006",
                                 .family = &HUD_BACKEND(parcels_family),
                                 .accepts = accepts,
                                 .run = scatter_parcels };
