/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * blocks.h - collectives of a span in which each rank has a block (ring.h): how the blocks are cut.
 * reduce_scatter.c makes the first steps of the ring, allgather.c the last ones.
 *
 * Shape     Rank number i of a node is served by ring i modulo the number of rings.  A ring's block
 *           for a node, or of a node, has the pieces of these ranks one after the other, with a
 *           piece of each rank in each chunk.
 * Cost      n (N - 1) / N bytes into each node, with n bytes in all; if blocks are equal, as many
 *           bytes out of it.
 * Accepts   Blocks that are not longer than BLOCKS_UNEQUAL times the mean, as cells have room for
 *           the longest block.
 */
#ifndef HUD_ALG_BLOCKS_H
#define HUD_ALG_BLOCKS_H

#include "alg/rings/ring.h"

enum { BLOCKS_UNEQUAL = 4 };

/* Returns the maximum number of ranks of a node that a ring serves. */
static inline int blocks_mates(const struct coll *c)
{
    int rings = rings_count(c);

    return (net_max_members(net_map(c->net)) + rings - 1) / rings;
}

/* Returns the bytes of a chunk's piece of a rank's block of block_bytes bytes. */
static inline size_t blocks_piece(const struct ring *x, size_t chunk, size_t block_bytes)
{
    size_t done = chunk * x->piece_bytes;

    return done < block_bytes ? pieces_min(block_bytes - done, x->piece_bytes) : 0;
}

/* Returns the largest piece, in whole units, and 0 if there is no room. */
static inline size_t blocks_room(const struct coll *c, size_t unit)
{
    return ring_room(c) / (size_t)blocks_mates(c) / unit * unit;
}

/* Cuts the call into chunks, for blocks of at most block_bytes bytes. */
static inline void blocks_cut(struct ring *x, size_t block_bytes, size_t unit)
{
    size_t largest = blocks_room(x->c, unit);

    x->cell_bytes = ring_room(x->c);
    x->chunks = (block_bytes + largest - 1) / largest;
    x->piece_bytes = cut_round_up((block_bytes + x->chunks - 1) / x->chunks, unit);
}

#endif
