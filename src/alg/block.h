/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * block.h - copies out into a block of a view.  Bytes beyond the block's end are dropped, like
 * bytes beyond the end of a view, although the view continues.  This happens if ranks have
 * different counts and send blocks of other sizes than their receivers expect.
 *
 * The view itself stays whole, because its packing and the choice of stores depend on all of its
 * bytes.
 */
#ifndef HUD_ALG_BLOCK_H
#define HUD_ALG_BLOCK_H

#include "alg/alg.h"

/* Returns block number i of a view of equal blocks. */
static inline struct mem_span block_at(const struct hud_view *view, size_t bytes, int i)
{
    return (struct mem_span){ .view = view, .offset_bytes = (size_t)i * bytes };
}

/* A range of a view. */
struct block {
    struct mem_span at;
    size_t bytes;
};

/* Returns a part of a view.  For callers that choose between parts: choosing between whole blocks
 * would copy them on the stack, and the copy waits for the stores of the fields. */
static inline struct block block_part(const struct hud_view *view, size_t offset_bytes,
                                      size_t bytes)
{
    return (struct block){ { .view = view, .offset_bytes = offset_bytes }, bytes };
}

static inline struct block block_whole(const struct hud_view *view)
{
    return (struct block){ { .view = view }, view->bytes };
}

static inline struct block block_number(const struct hud_view *view, size_t bytes, int i)
{
    return block_part(view, (size_t)i * bytes, bytes);
}

/* Returns how many bytes are left after `used` of `bytes` bytes. */
static inline size_t block_left(size_t bytes, size_t used)
{
    return used < bytes ? bytes - used : 0;
}

/* Records that more bytes came than there is room for: the call reports HUD_ERR_TRUNCATE. */
static inline void block_truncate(struct mem *m)
{
    static const struct hud_view none;

    mem_out(m, &none, &none, 0, 1);
}

/* Copies out to a block with room for room_bytes, and returns the number of bytes copied.  Other
 * bytes are dropped.  `last` is true for the last reader of these bytes (mem_out_as). */
static inline size_t block_out_as(struct mem *m, const struct mem_span *to, size_t room_bytes,
                                  const void *src, size_t bytes, bool last)
{
    size_t fit = bytes;

    if (__builtin_expect(bytes > room_bytes, 0)) {
        block_truncate(m);
        fit = room_bytes;
    }
    mem_out_as(m, to->view, src, to->offset_bytes, fit, last);
    return fit;
}

static inline size_t block_out(struct mem *m, const struct mem_span *to, size_t room_bytes,
                               const void *src, size_t bytes)
{
    return block_out_as(m, to, room_bytes, src, bytes, false);
}

/* Reports whether two spans begin with the same byte.  In a packed view, an offset is no distance
 * in memory: blocks have gaps, in which another view may be. */
static inline bool block_same(const struct mem_span *a, const struct mem_span *b)
{
    const char *one = a->view->base, *other = b->view->base;

    return a->view->pack || b->view->pack ? one == other && a->offset_bytes == b->offset_bytes
                                          : one + a->offset_bytes == other + b->offset_bytes;
}

/* Moves a rank's own block to its place, which may be the same.  Bytes for which the place has no
 * room are dropped. */
static inline void block_move(struct mem *m, const struct block *to, const struct block *from)
{
    if (block_same(&to->at, &from->at))
        return;
    if (from->bytes > to->bytes)
        block_truncate(m);
    mem_move(m, &to->at, &from->at, from->bytes < to->bytes ? from->bytes : to->bytes);
}

#endif
