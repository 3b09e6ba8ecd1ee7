/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * nodes.h - collectives of a span: messages between nodes, shared memory within a node.
 *
 * Source    Paper 04 (pipelined trees of messages) between the nodes, paper 01 (a queue of buffers)
 *           within a node.
 * Shape     One rank of each node sends and receives for the node: the head or, in a broadcast, the
 *           root on its own node.  The other ranks only use shared memory.
 * Memory    Each rank has control lines, a ring of buffers (bcast.c, buffers.h), and buffers of a
 *           reduction (allreduce.c, reduce.c).  The collectives share only these and the numbering
 *           of calls.  Each number is used by one call of one collective, so every flag grows.
 */
#ifndef HUD_NODES_H
#define HUD_NODES_H

#include "alg/alg.h"

enum {
    NODES_RING = 8,                /* number of buffers of a broadcast */
    NODES_FRAGMENT_MIN = 4 << 10,  /* bytes of a fragment from which the overhead of each message
                                      is small */
    NODES_BUFFER_BYTES = 32 << 10, /* default bytes of a buffer */
    NODES_SUM_BYTES = 8 << 10,     /* maximum bytes of a reduction */
    NODES_FAN = 8                  /* degree of the tree of a node's ranks, below its head */
};

/* Parameters of the family. */
enum nodes_param {
    NODES_TREE,
    NODES_DEGREE,
    NODES_FRAGMENT, /* bytes of a message of a broadcast, at most the bytes of a buffer */
    NODES_BUFFER,   /* bytes of a buffer of the ring, the same in all calls */
    NODES_PARAMS
};

struct nodes_lines {
    mem_flag entered, released;    /* barrier.c */
    mem_flag contributed, reduced; /* allreduce.c, reduce.c */
    mem_flag ready, copied;        /* buffers.h */
    uint64_t count;                /* buffers.h: words of the owner */
    uint64_t used[NODES_RING];
    _Alignas(HUD_LINE) char end[];
};

static inline struct nodes_lines *nodes_lines_of(struct mem *m, int rank)
{
    return mem_slot(m, rank);
}

/* Returns the tree of the ranks of a node, with subtrees of consecutive ranks, for barriers and
 * short reductions. */
static inline struct shape_tree nodes_inside(struct mem *m)
{
    return (struct shape_tree){ .kind = SHAPE_BALANCED, .degree = NODES_FAN, .ranks = mem_size(m) };
}

/* Buffers of reductions, behind the ring: a contribution; a sum, then the result; a message from
 * another node. */
enum nodes_buffer { NODES_GIVEN, NODES_SUM, NODES_COMING, NODES_BUFFERS };

/* Returns the bytes of a buffer of the ring with the line before it, whose last word is a part of
 * the message (buffers.h). */
static inline size_t nodes_ring_step(size_t buffer_bytes)
{
    return HUD_LINE + mem_lines(buffer_bytes);
}

/* Returns the bytes of a rank's window. */
static inline size_t nodes_window_bytes(size_t buffer_bytes)
{
    return nodes_ring_step(buffer_bytes) * NODES_RING + NODES_BUFFERS * NODES_SUM_BYTES;
}

static inline void *nodes_buffer(struct mem *m, const struct coll *c, int rank,
                                 enum nodes_buffer which)
{
    char *ring = mem_window(m, rank);

    return ring + nodes_ring_step((size_t)c->param[NODES_BUFFER]) * NODES_RING +
           (size_t)which * NODES_SUM_BYTES;
}

/* Returns the rank that sends and receives for a node in a rooted collective, its gate. */
static inline int nodes_gate(const struct coll *c, int node)
{
    const struct net_map *map = net_map(c->net);

    return node == map->node_of[c->root] ? c->root : map->head[node];
}

/* Reports whether a reduction is short enough.  Used as `accepts`. */
static inline bool nodes_is_short(const struct coll *c, int ranks)
{
    (void)ranks;
    return c->bytes <= NODES_SUM_BYTES;
}

/* Adds a received sum, in a buffer of this rank, to the rank's own sum.  `lower` is true if the
 * received sum is of lower nodes. */
static inline void nodes_combine(struct mem *m, const struct coll *c, enum nodes_buffer which,
                                 bool lower)
{
    int me = mem_rank(m);
    const struct mem_span sum = { .shared = nodes_buffer(m, c, me, NODES_SUM) },
                          coming = { .shared = nodes_buffer(m, c, me, which) };
    const struct mem_span from[] = { lower ? coming : sum, lower ? sum : coming };

    mem_reduce(m, c->reduction, &sum, NULL, from, 2, c->bytes);
}

/* Returns how many messages a rank may have at a time: a receive into each buffer, and a send from
 * each buffer to each other node.  rings.h needs fewer. */
static inline int nodes_messages(int nodes)
{
    return NODES_RING * nodes;
}

extern const struct alg_family HUD_BACKEND(nodes_family);

#endif
