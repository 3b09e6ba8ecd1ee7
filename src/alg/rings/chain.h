/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * chain.h - messages down a chain of nodes, for reduce.c.
 *
 * Source    Paper 04 (the chain, with segments).
 * Shape     The chain of reduce/rings ends at the root's node.  The chain of reduce/ordered goes
 *           from node 0 to the last node, and its result then goes, without another sum, to the
 *           root's node.  Empty pieces have no message.
 * Cost      n bytes out of each node and into each node, except at the ends of the chain.  In
 *           order, a root's node within the chain receives 2 n.
 *
 * Edges     R3 -> A3   a piece of a sum, to the next node, or to that of the root
 * Safety    1 A receive buffer serves every second chunk, after its old contents have been
 *             reduced.
 *           2 A sum is sent on from its cell, which serves every second chunk, after net_sent.
 */
#ifndef HUD_ALG_CHAIN_H
#define HUD_ALG_CHAIN_H

#include "alg/rings/chain_cells.h"

enum { CHAIN_LATE = CHAIN_DEPTH - 2 };

/* Sets the place of this node in the chain. */
static inline void chain_link(struct chain *o)
{
    const struct net_map *map = o->map;
    int root_node = map->node_of[o->c->root], nodes = map->nodes,
        ends = (o->begins + nodes - 1) % nodes;

    o->place = (map->node - o->begins + nodes) % nodes;
    o->ends = map->node == root_node;
    o->before = o->after = o->from = o->to = -1;
    o->late = o->ends && ends != root_node ? CHAIN_LATE : 0;
    if (o->ring < 0)
        return;
    if (o->place > 0)
        o->before = net_member(map, (map->node + nodes - 1) % nodes, o->ring);
    if (o->place < nodes - 1)
        o->after = net_member(map, (map->node + 1) % nodes, o->ring);
    if (map->node == ends && !o->ends)
        o->to = net_member(map, root_node, o->ring);
    if (o->ends && ends != root_node)
        o->from = net_member(map, ends, o->ring);
}

/* Numbers of messages.  Each kind has several, used by chunks in turn. */
enum {
    CHAIN_COMING,
    CHAIN_GOING = CHAIN_COMING + RINGS_BOTH,
    CHAIN_SUM = CHAIN_GOING + RINGS_BOTH
};

static inline int chain_coming(size_t chunk)
{
    return CHAIN_COMING + (int)(chunk % RINGS_BOTH);
}

static inline int chain_going(size_t chunk)
{
    return CHAIN_GOING + (int)(chunk % RINGS_BOTH);
}

static inline int chain_sum(size_t chunk)
{
    return CHAIN_SUM + (int)(chunk % CHAIN_DEPTH);
}

static inline enum net_tag chain_tag(const struct chain *o)
{
    return o->c->alg->ordered ? NET_REDUCE_ORDERED : NET_REDUCE_RINGS;
}

/* Reports whether this rank has a message of a chunk from, or to, a rank.  Rank -1 means no
 * rank. */
static inline bool chain_has(const struct chain *o, int rank, size_t chunk)
{
    return rank >= 0 && chain_bytes(o, chunk, o->ring) != 0;
}

static inline void chain_receive(const struct chain *o, int rank, int id, size_t chunk, char *at)
{
    if (chunk < o->chunks && chain_has(o, rank, chunk))
        net_receive(o->m, o->c->net, id, rank, chain_tag(o), at, chain_bytes(o, chunk, o->ring));
}

/* Starts the receive of a piece.  chain_expect_sum() starts the receive of a sum for the root. */
static inline void chain_expect(const struct chain *o, size_t chunk)
{
    chain_receive(o, o->before, chain_coming(chunk), chunk, chain_coming_cell(o, chunk));
}

static inline void chain_expect_sum(const struct chain *o, size_t chunk)
{
    chain_receive(o, o->from, chain_sum(chunk), chunk, chain_sum_cell(o, o->ring, chunk));
}

static inline bool chain_arrived(const struct chain *o, int rank, int id, size_t chunk)
{
    bool has = chain_has(o, rank, chunk);

    if (has)
        net_arrived(o->m, o->c->net, id); /* A3 */
    return has;
}

/* Waits for a piece.  Returns false if no piece comes. */
static inline bool chain_await(const struct chain *o, size_t chunk)
{
    return chain_arrived(o, o->before, chain_coming(chunk), chunk);
}

static inline void chain_await_sum(const struct chain *o, size_t chunk)
{
    chain_arrived(o, o->from, chain_sum(chunk), chunk);
}

/* Starts the send of a piece to the next node or to the root's node. */
static inline void chain_send(const struct chain *o, size_t chunk, const char *at)
{
    int rank = o->after >= 0 ? o->after : o->to;
    size_t bytes = chain_bytes(o, chunk, o->ring);

    if (chain_has(o, rank, chunk))
        net_send(o->m, o->c->net, chain_going(chunk), rank, chain_tag(o), at, bytes); /* R3 */
}

static inline void chain_complete(const struct chain *o, size_t chunk)
{
    if (chain_has(o, o->after >= 0 ? o->after : o->to, chunk))
        net_sent(o->m, o->c->net, chain_going(chunk));
}

#endif
