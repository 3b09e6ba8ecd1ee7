/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ring_steps.h - the steps in which a lane's blocks of a chunk go round the ring of nodes (ring.h),
 * and the cells of a rank that they use.
 *
 * Shape     A chunk has a block for each lane and each of the N nodes.
 *             in steps 0 .. N - 2 sums of blocks go round: what comes is reduced with the
 *             contributions of the node and goes on; node v ends with block v |
 *             in steps N - 1 .. 2 N - 3 block v of each node v goes round.
 * Cost      (N - 1) / N of all blocks out of and into each node in N - 1 steps, in a message of
 *           each lane for each step of each chunk.
 *
 * Edges     R3 -> A3   a block, to the next node
 * Deadlock  All lanes of all nodes start a receive one step before they wait for it.  A step waits
 *           for its message, which the node before sent at the end of the step before, or, the
 *           first, as the chunk began; then for sends of messages up to its own, whose receives
 *           were started a step before; then it sends that of the next.
 * Safety    1 A block is received where its sum was sent from: after net_sent.  A buffer for what
 *             comes serves every second step, after that has been reduced.
 *           2 Each block is reduced by one rank of each node, in the order of the ring from the
 *             node after its own on.  All get the same bits.
 */
#ifndef HUD_ALG_RING_STEPS_H
#define HUD_ALG_RING_STEPS_H

#include "alg/lanes/lanes.h"

/* Cells of a set behind those of blocks: for what comes, twice; for a result (reduce_scatter). */
enum { RING_RESULT = LANES_BOTH, RING_MORE };

struct ring;

/* What a collective does.  Blocks are those of a lane for, or of, a node. */
struct ring_plan {
    bool reduces, gathers;
    size_t (*bytes)(const struct ring *x, size_t chunk, int lane, int node); /* of a block */
    void (*contribute)(const struct ring *x, size_t chunk);
    /* A lane: makes the block that it sends first. */
    void (*begin)(const struct ring *x, size_t chunk);
    /* A lane: of its block, what has come and the contributions of its node. */
    void (*reduce)(const struct ring *x, size_t chunk, int node, void *come);
    void (*copy_out)(const struct ring *x, size_t chunk);
};

/* A rank's view of its call. */
struct ring {
    struct mem *m;
    const struct coll *c;
    const struct ring_plan *plan;
    const struct net_map *map;
    enum net_tag tag;
    int nodes, lanes;
    int lane;         /* of this rank; -1: none */
    int first, steps; /* begins with that step, has so many */
    bool parts;       /* allgather: a view for each rank's block; else one of equal blocks */
    size_t chunks;
    size_t piece_bytes;   /* of a block or of a rank's part of it, in one chunk */
    size_t cell_bytes;    /* room of a block */
    uint64_t before;      /* value of `contributions` before this call */
    int sent[LANES_SETS]; /* sends that are complete are those before that step */
    int above, below;     /* the next node's rank in the lane, and that of the one before */
};

/* In a rank's window: its contribution to another lane's block, or a block of its own lane. */
ALG_INLINE char *ring_cell(const struct ring *x, int rank, size_t chunk, int lane, int node)
{
    return (char *)mem_window(x->m, rank) + chunk % LANES_SETS * (size_t)x->c->param[LANES_SET] +
           (size_t)(lane * x->nodes + node) * x->cell_bytes;
}

/* One behind those of blocks. */
ALG_INLINE char *ring_more(const struct ring *x, int rank, size_t chunk, int which)
{
    return ring_cell(x, rank, chunk, x->lanes, which);
}

/* Step t sends the block of node v - 1 - t, around, and receives that of the node before it. */
ALG_INLINE int ring_moved(const struct ring *x, int step)
{
    int node = (x->map->node - 1 - step) % x->nodes;

    return node < 0 ? node + x->nodes : node;
}

ALG_INLINE bool ring_reduces(const struct ring *x, int step)
{
    return step < x->nodes - 1;
}

/* ---- messages ---- */

ALG_INLINE int ring_incoming(size_t chunk, int step)
{
    return (int)(chunk % LANES_SETS) * LANES_BOTH + step % LANES_BOTH;
}

ALG_INLINE int ring_outgoing(size_t chunk, int step)
{
    return LANES_SETS * LANES_BOTH + ring_incoming(chunk, step);
}

/* Sends of the steps before `end`. */
ALG_INLINE void ring_complete(struct ring *x, size_t chunk, int end)
{
    for (int *step = &x->sent[chunk % LANES_SETS]; *step < end; ++*step)
        if (x->plan->bytes(x, chunk, x->lane, ring_moved(x, *step)) != 0)
            net_sent(x->m, x->c->net, ring_outgoing(chunk, *step));
}

/* Starts the receive of a step. */
ALG_INLINE void ring_expect(struct ring *x, size_t chunk, int step)
{
    int node = ring_moved(x, step + 1), id = ring_incoming(chunk, step), me = mem_rank(x->m);
    size_t bytes = x->plan->bytes(x, chunk, x->lane, node);

    if (step >= x->first + x->steps)
        return;
    if (!ring_reduces(x, step))
        ring_complete(x, chunk, step - x->nodes + 2); /* the sum left from there */
    void *to = ring_reduces(x, step) ? ring_more(x, me, chunk, step % LANES_BOTH)
                                     : ring_cell(x, me, chunk, x->lane, node);
    if (bytes != 0)
        net_receive(x->m, x->c->net, id, x->below, x->tag, to, bytes);
}

/* Sends the message of a step. */
ALG_INLINE void ring_pass_on(struct ring *x, size_t chunk, int step)
{
    int node = ring_moved(x, step), id = ring_outgoing(chunk, step);

    if (step >= x->first + x->steps)
        return;
    const char *from = ring_cell(x, mem_rank(x->m), chunk, x->lane, node);
    size_t bytes = x->plan->bytes(x, chunk, x->lane, node);
    ring_complete(x, chunk, step + 1 - LANES_BOTH);
    if (bytes != 0)
        net_send(x->m, x->c->net, id, x->above, x->tag, from, bytes); /* R3 */
}

ALG_INLINE void ring_step(struct ring *x, size_t chunk, int step)
{
    int node = ring_moved(x, step + 1);
    size_t bytes = x->plan->bytes(x, chunk, x->lane, node);

    if (bytes != 0)
        net_arrived(x->m, x->c->net, ring_incoming(chunk, step)); /* A3 */
    ring_expect(x, chunk, step + 1);
    if (bytes != 0 && ring_reduces(x, step))
        x->plan->reduce(x, chunk, node, ring_more(x, mem_rank(x->m), chunk, step % LANES_BOTH));
    ring_pass_on(x, chunk, step + 1);
}

/* The steps of a half. */
ALG_INLINE void ring_steps(struct ring *x, size_t chunk, int i)
{
    if (x->lane >= 0 && i < x->steps)
        ring_step(x, chunk, x->first + i);
}

#endif
