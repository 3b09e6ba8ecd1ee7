/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * blocks.h - collectives of a span where each rank has a block (ring.h): how the blocks are cut.
 * reduce_scatter.c makes the first steps of the ring, allgather.c the last ones.
 *
 * Shape     Rank number i of a node is served by lane i modulo the number of lanes.  A lane's block
 *           for a node, or of it, has the pieces of those ranks, one behind the other, a piece of
 *           each rank in a chunk.
 * Cost      n (N - 1) / N bytes into each node of n bytes in all; where blocks are equal, as many
 *           out of it.
 * Accepts   Blocks none of which is longer than BLOCKS_UNEQUAL times the mean: cells have room for
 *           the longest.
 */
#ifndef HUD_ALG_BLOCKS_H
#define HUD_ALG_BLOCKS_H

#include "alg/lanes/ring.h"

enum { BLOCKS_UNEQUAL = 4 };

/* The maximum of ranks of a node that one lane serves. */
static inline int blocks_mates(const struct coll *c)
{
    int lanes = lanes_count(c);

    return (net_max_members(net_map(c->net)) + lanes - 1) / lanes;
}

/* Of a rank's block of so many bytes. */
static inline size_t blocks_piece(const struct ring *x, size_t chunk, size_t block_bytes)
{
    size_t done = chunk * x->piece_bytes;

    return done < block_bytes ? pieces_min(block_bytes - done, x->piece_bytes) : 0;
}

/* Largest piece, whole units; 0: there is no room. */
static inline size_t blocks_room(const struct coll *c, size_t unit)
{
    return ring_room(c) / (size_t)blocks_mates(c) / unit * unit;
}

/* For blocks of at most so many bytes. */
static inline void blocks_cut(struct ring *x, size_t block_bytes, size_t unit)
{
    size_t largest = blocks_room(x->c, unit);

    x->cell_bytes = ring_room(x->c);
    x->chunks = (block_bytes + largest - 1) / largest;
    x->piece_bytes = cut_round_up((block_bytes + x->chunks - 1) / x->chunks, unit);
}

#endif
