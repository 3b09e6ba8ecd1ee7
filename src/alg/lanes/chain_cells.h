/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * chain_cells.h - a rank in a reduce along chains (chain.h), and its memory.
 *
 * Shape     The message is cut into chunks, a chunk into a piece for each lane.  The window of a
 *           rank has a cell for each lane's piece of a chunk, twice: what the rank contributes, and
 *           in its own lane the sum; one for what comes, twice; and some for sums for the root.
 */
#ifndef HUD_ALG_CHAIN_CELLS_H
#define HUD_ALG_CHAIN_CELLS_H

#include "alg/lanes/lanes.h"

enum { CHAIN_DEPTH = 8 }; /* cells of sums for the root */

/* On one rank. */
struct chain {
    struct mem *m;
    const struct coll *c;
    const struct net_map *map;
    int lanes, lane;   /* lane: of this rank; -1: none */
    int begins, place; /* the first node of the chain; this node's place in it */
    int before, after; /* ranks of this lane there; -1: none */
    int from, to;      /* another node sends the sum, or this one does; -1: it does not */
    bool ends;         /* this node has the root */
    size_t late;       /* how many chunks later the root's node takes a sum */
    size_t chunks, piece_bytes;
    uint64_t chunks_before; /* of the calls before */
};

static inline size_t chain_cells(const struct coll *c)
{
    return LANES_SETS * (size_t)lanes_count(c) + LANES_BOTH + CHAIN_DEPTH;
}

/* Largest piece, whole units. */
static inline size_t chain_room(const struct coll *c)
{
    size_t room = LANES_SETS * (size_t)c->param[LANES_SET] / chain_cells(c) / HUD_LINE * HUD_LINE,
           wanted = cut_round_up((size_t)c->param[LANES_PIECE], cut_unit(c)),
           max = room / cut_unit(c) * cut_unit(c);

    return wanted != 0 && wanted < max ? wanted : max;
}

static inline char *chain_cell(const struct chain *o, int rank, size_t index)
{
    size_t room = LANES_SETS * (size_t)o->c->param[LANES_SET] / chain_cells(o->c);

    return (char *)mem_window(o->m, rank) + index * (room / HUD_LINE * HUD_LINE);
}

static inline char *chain_piece_cell(const struct chain *o, int rank, size_t chunk, int lane)
{
    return chain_cell(o, rank, chunk % LANES_SETS * (size_t)o->lanes + (size_t)lane);
}

static inline char *chain_coming_cell(const struct chain *o, size_t chunk)
{
    return chain_cell(o, mem_rank(o->m), LANES_SETS * (size_t)o->lanes + chunk % LANES_BOTH);
}

static inline char *chain_sum_cell(const struct chain *o, int lane, size_t chunk)
{
    return chain_cell(o, lane, LANES_SETS * (size_t)o->lanes + LANES_BOTH + chunk % CHAIN_DEPTH);
}

static inline size_t chain_offset(const struct chain *o, size_t chunk, int lane)
{
    return (chunk * (size_t)o->lanes + (size_t)lane) * o->piece_bytes;
}

static inline size_t chain_bytes(const struct chain *o, size_t chunk, int lane)
{
    size_t offset = chain_offset(o, chunk, lane);

    return offset < o->c->bytes ? pieces_min(o->c->bytes - offset, o->piece_bytes) : 0;
}

#endif
