/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ring_steps.h - the steps in which the blocks of a chunk go round a ring of nodes (ring.h),
 * and the cells of a rank that the steps use.
 *
 * Shape     A chunk has a block for each ring and each of the N nodes.
 *           In steps 0 .. N - 2, sums of blocks go round: a received sum is reduced with the
 *           contributions of the node and sent on.  Node v ends with block v.
 *           In steps N - 1 .. 2 N - 3, block v of each node v goes round.
 * Cost      (N - 1) / N of all blocks out of and into each node in N - 1 steps, with one message of
 *           each ring in each step of each chunk.
 *
 * Edges     R3 -> A3   a block, to the next node
 * Deadlock  All members of all rings start a receive one step before they wait for it.  A step
 * waits
 *           for its message, which the previous node sent at the end of the previous step or, in
 *           the first step, as the chunk began.  Then the step waits for sends up to its own
 *           message, whose receives were started a step before.  Then it sends the message of the
 *           next step.
 * Safety    1 A block is received into the cell from which its sum was sent: after net_sent.  A
 *           receive buffer serves every second step, after its contents have been reduced.
 *           2 Each block is reduced by one rank of each node, in the order of the ring from the
 *           node after its own on.  So all ranks get the same bits.
 */
#ifndef HUD_ALG_RING_STEPS_H
#define HUD_ALG_RING_STEPS_H

#include "alg/rings/rings.h"

/* Cells of a set behind the cells of blocks: two receive buffers, and a result (reduce_scatter). */
enum { RING_RESULT = RINGS_BOTH, RING_MORE };

struct ring;

/* The functions of a collective.  A block is a ring's block for a node, or of a node. */
struct ring_plan {
    bool reduces, gathers;
    size_t (*bytes)(const struct ring *x, size_t chunk, int ring, int node); /* size of a block */
    void (*contribute)(const struct ring *x, size_t chunk);
    /* Makes the first block that a member of a ring sends.  NULL: `reduce` makes the block. */
    void (*begin)(const struct ring *x, size_t chunk);
    /* Reduces, on a member of a ring, the contributions of its node, and a received block if `come`
     * is not NULL. */
    void (*reduce)(const struct ring *x, size_t chunk, int node, void *come);
    void (*copy_out)(const struct ring *x, size_t chunk);
};

/* A call on one rank. */
struct ring {
    struct mem *m;
    const struct coll *c;
    const struct ring_plan *plan;
    const struct net_map *map;
    enum net_tag tag;
    int nodes, rings;
    int ring;         /* this rank's ring, or -1 */
    int first, steps; /* number of the first step; number of steps */
    bool parts;       /* allgather: a view for each rank's block; otherwise one view of equal
                         blocks */
    size_t chunks;
    size_t piece_bytes;   /* bytes, in one chunk, of a block or of a rank's part of it */
    size_t cell_bytes;    /* bytes of a cell for a block */
    uint64_t before;      /* value of `contributions` before this call */
    int sent[RINGS_SETS]; /* the sends of all steps before this step are complete */
    int above, below;     /* this ring's ranks on the next node and on the previous node */
};

/* Returns a cell in a rank's window: the rank's contribution to another ring's block, or a block of
 * its own ring. */
ALG_INLINE char *ring_cell(const struct ring *x, int rank, size_t chunk, int ring, int node)
{
    return (char *)mem_window(x->m, rank) + chunk % RINGS_SETS * (size_t)x->c->param[RINGS_SET] +
           (size_t)(ring * x->nodes + node) * x->cell_bytes;
}

/* Returns a cell behind the cells of blocks. */
ALG_INLINE char *ring_more(const struct ring *x, int rank, size_t chunk, int which)
{
    return ring_cell(x, rank, chunk, x->rings, which);
}

/* Returns the node whose block a step sends: node v - 1 - t, modulo the number of nodes, in step t.
 * The step receives the block of the node before. */
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
    return (int)(chunk % RINGS_SETS) * RINGS_BOTH + step % RINGS_BOTH;
}

ALG_INLINE int ring_outgoing(size_t chunk, int step)
{
    return RINGS_SETS * RINGS_BOTH + ring_incoming(chunk, step);
}

/* Waits for the sends of the steps before `end`. */
ALG_INLINE void ring_complete(struct ring *x, size_t chunk, int end)
{
    for (int *step = &x->sent[chunk % RINGS_SETS]; *step < end; ++*step)
        if (x->plan->bytes(x, chunk, x->ring, ring_moved(x, *step)) != 0)
            net_sent(x->m, x->c->net, ring_outgoing(chunk, *step));
}

/* Starts the receive of a step. */
ALG_INLINE void ring_expect(struct ring *x, size_t chunk, int step)
{
    int node = ring_moved(x, step + 1), id = ring_incoming(chunk, step), me = mem_rank(x->m);
    size_t bytes = x->plan->bytes(x, chunk, x->ring, node);

    if (step >= x->first + x->steps)
        return;
    if (!ring_reduces(x, step))
        ring_complete(x, chunk, step - x->nodes + 2); /* the sum has been sent from this cell */
    void *to = ring_reduces(x, step) ? ring_more(x, me, chunk, step % RINGS_BOTH)
                                     : ring_cell(x, me, chunk, x->ring, node);
    if (bytes != 0)
        net_receive(x->m, x->c->net, id, x->below, x->tag, to, bytes);
}

/* Sends the message of a step. */
ALG_INLINE void ring_pass_on(struct ring *x, size_t chunk, int step)
{
    int node = ring_moved(x, step), id = ring_outgoing(chunk, step);

    if (step >= x->first + x->steps)
        return;
    const char *from = ring_cell(x, mem_rank(x->m), chunk, x->ring, node);
    size_t bytes = x->plan->bytes(x, chunk, x->ring, node);
    ring_complete(x, chunk, step + 1 - RINGS_BOTH);
    if (bytes != 0)
        net_send(x->m, x->c->net, id, x->above, x->tag, from, bytes); /* R3 */
}

ALG_INLINE void ring_step(struct ring *x, size_t chunk, int step)
{
    int node = ring_moved(x, step + 1);
    size_t bytes = x->plan->bytes(x, chunk, x->ring, node);

    if (bytes != 0)
        net_arrived(x->m, x->c->net, ring_incoming(chunk, step)); /* A3 */
    ring_expect(x, chunk, step + 1);
    if (bytes != 0 && ring_reduces(x, step))
        x->plan->reduce(x, chunk, node, ring_more(x, mem_rank(x->m), chunk, step % RINGS_BOTH));
    ring_pass_on(x, chunk, step + 1);
}

/* Carries out a step of each half. */
ALG_INLINE void ring_steps(struct ring *x, size_t chunk, int i)
{
    if (x->ring >= 0 && i < x->steps)
        ring_step(x, chunk, x->first + i);
}

#endif
