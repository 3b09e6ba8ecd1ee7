/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pieces.h - how a message is divided: into slices that ranks own, and into fragments, each with a
 * piece of every slice.  Also the positions of pieces in a window.  Pure arithmetic.
 *
 * A window holds sets of cells, which fragments use in turn.  A set has a cell for each owner's
 * piece.  If a set is too small for a piece of each owner, owners take turns, as many at a time as
 * fit.  Pieces are of equal size, except the last piece of a slice.
 */
#ifndef HUD_PIECES_H
#define HUD_PIECES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pieces {
    size_t bytes;         /* size of the message */
    const size_t *blocks; /* bytes of each slice; if NULL: */
    size_t block_bytes;   /* bytes of each slice except the last ones */
    int count, at_once;   /* number of owners; how many of them have a piece in a fragment */
    uint64_t sets;
    size_t set_bytes, cell_bytes, piece_bytes;
};

/* A fragment. */
struct pieces_place {
    uint64_t at;                  /* position: number of fragments since the window began */
    int owner;                    /* first owner with a piece */
    size_t start_bytes;           /* begin of that owner's slice */
    size_t done_bytes, max_bytes; /* bytes of each slice already done; bytes of the longest slice */
};

struct piece {
    int owner;
    size_t offset_bytes, bytes; /* bytes is 0 if the slice has ended */
};

static inline size_t pieces_min(size_t a, size_t b)
{
    return a < b ? a : b;
}

static inline size_t pieces_block(const struct pieces *s, int owner)
{
    size_t before = (size_t)owner * s->block_bytes;

    if (s->blocks)
        return s->blocks[owner];
    return before < s->bytes ? pieces_min(s->block_bytes, s->bytes - before) : 0;
}

static inline bool pieces_more(const struct pieces *s, const struct pieces_place *f)
{
    return f->owner < s->count;
}

static inline int pieces_end(const struct pieces *s, const struct pieces_place *f)
{
    return (int)pieces_min((size_t)(f->owner + s->at_once), (size_t)s->count);
}

/* Begins the slices of the owners whose turn it is.  If these slices are all empty, continues with
 * the next owners. */
static inline void pieces_begin(const struct pieces *s, struct pieces_place *f)
{
    f->done_bytes = f->max_bytes = 0;
    while (f->max_bytes == 0 && pieces_more(s, f)) {
        for (int i = f->owner; i < pieces_end(s, f); i++)
            f->max_bytes = pieces_block(s, i) > f->max_bytes ? pieces_block(s, i) : f->max_bytes;
        if (f->max_bytes == 0)
            f->owner = pieces_end(s, f);
    }
}

static inline void pieces_next(const struct pieces *s, struct pieces_place *f)
{
    int end = pieces_end(s, f);

    f->at++;
    f->done_bytes += s->piece_bytes;
    if (f->done_bytes < f->max_bytes)
        return;
    for (; f->owner < end; f->owner++)
        f->start_bytes += pieces_block(s, f->owner);
    pieces_begin(s, f);
}

/* Returns the place before the first piece of a fragment.  pieces_each() then steps through the
 * pieces in the order of the message, and returns false after the last. */
static inline struct piece pieces_before(const struct pieces_place *f)
{
    return (struct piece){ .owner = f->owner - 1, .offset_bytes = f->start_bytes + f->done_bytes };
}

static inline bool pieces_each(const struct pieces *s, const struct pieces_place *f,
                               struct piece *piece)
{
    if (piece->owner >= f->owner)
        piece->offset_bytes += pieces_block(s, piece->owner);
    if (++piece->owner == pieces_end(s, f))
        return false;
    size_t block = pieces_block(s, piece->owner);
    piece->bytes = block > f->done_bytes ? pieces_min(s->piece_bytes, block - f->done_bytes) : 0;
    return true;
}

/* Returns the offset of a piece in a window. */
static inline size_t pieces_at(const struct pieces *s, const struct pieces_place *f,
                               const struct piece *piece)
{
    return f->at % s->sets * s->set_bytes + (size_t)(piece->owner - f->owner) * s->cell_bytes;
}

#endif
