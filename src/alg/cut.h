/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cut.h - how a reduction is cut into pieces (shape/pieces.h), as its elements and the window of
 * its slot allow.
 *
 * Slices that no call gives, and pieces, are whole elements, and whole lines where elements fit
 * lines.  A set of a window has room for one of the largest elements there are, at least.
 */
#ifndef HUD_ALG_CUT_H
#define HUD_ALG_CUT_H

#include "alg/alg.h"
#include "shape/pieces.h"

/* A slot with a window of as many bytes as wanted (0: all) or as fit; 0: no room. */
static inline size_t cut_slot_bytes(size_t head_bytes, uint64_t sets, long wanted, size_t max_bytes)
{
    size_t room = max_bytes > head_bytes ? (max_bytes - head_bytes) / sets : 0,
           min = HUD_ELEMENT_MAX;
    size_t set = wanted == 0 ? room : (size_t)wanted / sets > min ? (size_t)wanted / sets : min;

    return room < min ? 0 : head_bytes + sets * (pieces_min(set, room) / HUD_LINE * HUD_LINE);
}

static inline size_t cut_round_up(size_t bytes, size_t unit)
{
    return (bytes + unit - 1) / unit * unit;
}

/* For a slot of cut_slot_bytes.  blocks NULL: slices alike.  Pieces of so many bytes as wanted (0:
 * all), or as a cell holds. */
static inline struct pieces cut_of(const struct coll *c, int count, const size_t *blocks,
                                   size_t head_bytes, uint64_t sets, long wanted)
{
    size_t element = c->reduction->element_bytes,
           unit = HUD_LINE % element == 0 ? HUD_LINE : element, owners = (size_t)count;
    struct pieces s = { .bytes = c->bytes, .blocks = blocks, .count = count, .sets = sets };

    s.block_bytes = cut_round_up((c->bytes + owners - 1) / owners, unit);
    s.set_bytes = (c->slot_bytes - head_bytes) / sets / HUD_LINE * HUD_LINE;
    s.at_once = (int)pieces_min(owners, s.set_bytes / mem_lines(unit));
    s.cell_bytes = s.set_bytes / (size_t)s.at_once / HUD_LINE * HUD_LINE;
    s.piece_bytes = s.cell_bytes / unit * unit;
    if (wanted != 0)
        s.piece_bytes = pieces_min(s.piece_bytes, cut_round_up((size_t)wanted, unit));
    return s;
}

#endif
