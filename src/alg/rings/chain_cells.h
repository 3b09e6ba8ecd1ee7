/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * chain_cells.h - the state and the memory of a rank in a reduce along chains (chain.h).
 *
 * Shape     The message is cut into chunks, and a chunk into a piece for each ring.  The window of
 *           a rank has two cells for each ring's piece of a chunk, with the rank's contribution, or
 *           in its own ring the sum.  It also has two receive buffers, and CHAIN_DEPTH cells of
 *           sums for the root.
 */
#ifndef HUD_ALG_CHAIN_CELLS_H
#define HUD_ALG_CHAIN_CELLS_H

#include "alg/rings/rings.h"

enum { CHAIN_DEPTH = 8 }; /* number of cells of sums for the root */

/* A call on one rank. */
struct chain {
    struct mem *m;
    const struct coll *c;
    const struct net_map *map;
    int rings, ring;   /* ring: of this rank, or -1 */
    int begins, place; /* the first node of the chain; this node's place in the chain */
    int before, after; /* ranks of this ring on the neighbouring nodes of the chain, or -1 */
    int from, to;      /* rank that sends the sum to this node; rank to which this node sends it;
                          or -1 */
    bool ends;         /* this node has the root */
    size_t late;       /* how many chunks later the root's node receives a sum */
    size_t chunks, piece_bytes;
    uint64_t chunks_before; /* number of chunks of the earlier calls */
};

static inline size_t chain_cells(const struct coll *c)
{
    return RINGS_SETS * (size_t)rings_count(c) + RINGS_BOTH + CHAIN_DEPTH;
}

/* Returns the largest piece, in whole units. */
static inline size_t chain_room(const struct coll *c)
{
    size_t room = RINGS_SETS * (size_t)c->param[RINGS_SET] / chain_cells(c) / HUD_LINE * HUD_LINE,
           wanted = cut_round_up((size_t)c->param[RINGS_PIECE], cut_unit(c)),
           max = room / cut_unit(c) * cut_unit(c);

    return wanted != 0 && wanted < max ? wanted : max;
}

static inline char *chain_cell(const struct chain *o, int rank, size_t index)
{
    size_t room = RINGS_SETS * (size_t)o->c->param[RINGS_SET] / chain_cells(o->c);

    return (char *)mem_window(o->m, rank) + index * (room / HUD_LINE * HUD_LINE);
}

static inline char *chain_piece_cell(const struct chain *o, int rank, size_t chunk, int ring)
{
    return chain_cell(o, rank, chunk % RINGS_SETS * (size_t)o->rings + (size_t)ring);
}

static inline char *chain_coming_cell(const struct chain *o, size_t chunk)
{
    return chain_cell(o, mem_rank(o->m), RINGS_SETS * (size_t)o->rings + chunk % RINGS_BOTH);
}

static inline char *chain_sum_cell(const struct chain *o, int ring, size_t chunk)
{
    return chain_cell(o, ring, RINGS_SETS * (size_t)o->rings + RINGS_BOTH + chunk % CHAIN_DEPTH);
}

static inline size_t chain_offset(const struct chain *o, size_t chunk, int ring)
{
    return (chunk * (size_t)o->rings + (size_t)ring) * o->piece_bytes;
}

static inline size_t chain_bytes(const struct chain *o, size_t chunk, int ring)
{
    size_t offset = chain_offset(o, chunk, ring);

    return offset < o->c->bytes ? pieces_min(o->c->bytes - offset, o->piece_bytes) : 0;
}

#endif
