/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * blocks.h - of the family one_way: how a block goes from its sender to its receiver.
 *
 * Shape     In its cell, if that has room.  Else in tiles, of which the cell has the place of the
 *           first; both ends know how long tiles are, and so where the others lie.  What the kernel
 *           is to copy is announced first, and what it did not copy goes in tiles.
 *
 * Line                       written by  read by      value means
 *   slot[s].cell[d][k % R]   s           d            2 k: s asks d for a place for its block of
 *                                                     operation k (gather), or publishes where the
 *                                                     block is (scatter), so that the kernel copies
 *                                                     it.  2 k + 1: the block, or what is left of
 *                                                     it, is here, or in tiles from here on
 *   slot[s].more             s           receivers    so many tiles has s written since the lease
 *                                                     began: announces those of a block but the
 *                                                     first
 *
 * Edges     R1 -> A1   a copy into a cell or a tile, and a place  happens before  its receiver's
 *                      that is published                          copy out of it
 *
 * Safety
 *   1. A block that is shorter than its receiver expects ends where its cell says.  What is longer
 *      than the receiver's block is dropped, and the call reports that.
 */
#ifndef HUD_ALG_ONE_WAY_BLOCKS_H
#define HUD_ALG_ONE_WAY_BLOCKS_H

#include "alg/one_way/one_way.h"

/* In a cell: bytes, whether they are in tiles, and whether the kernel has copied some before; then
 * the bytes of the block; or where the first tile begins, its number, and what the kernel copied.
 */
enum { HEADER, HEADER_DATA, HEADER_AT = HEADER_DATA, HEADER_NUMBER, HEADER_MOVED };
enum { IN_TILES = 1, AFTER_DIRECT = 2, HEADER_BITS = 2 };

/* Bytes of a block that a cell has room for. */
static inline size_t one_way_in_cell(const struct one_way *x)
{
    return x->lines * HUD_LINE - offsetof(mem_flag, payload[HEADER_DATA]);
}

static inline size_t one_way_tile_bytes(const struct one_way *x)
{
    return tiles_bytes((size_t)x->c->param[ONE_WAY_TILE], x->window_bytes);
}

/* ---- tiles, by their sender ---- */

/* Tiles, at most, that are not known to be consumed: of two operations, up to a limit, so that a
 * sender need not wait for receivers of its own. */
static inline uint64_t one_way_ahead(const struct one_way *x)
{
    uint64_t two = 2 * (uint64_t)x->receivers;

    return two < AHEAD_MIN ? AHEAD_MIN : two > AHEAD_MAX ? AHEAD_MAX : two;
}

/* Makes room for these bytes in one run within `reach`, at the window's position.  A sender that
 * has too many tiles out waits for half of them, so that it waits seldom. */
static inline void one_way_make_room(struct one_way *x, size_t bytes, size_t reach)
{
    uint64_t ahead = one_way_ahead(x);

    x->at = tiles_run(x->at, bytes, x->window_bytes, reach);
    while (x->first != x->next) {
        const uint64_t *oldest = x->mine->tile[x->first % AHEAD_MAX];
        bool many = x->next - x->first == ahead;
        if (!many && x->at + bytes - mem_get(x->m, &oldest[TILE_AT]) <= x->window_bytes)
            return;
        for (uint64_t i = 0; i < (many ? ahead / 2 : 1); i++) {
            oldest = x->mine->tile[x->first++ % AHEAD_MAX];
            one_way_await(x, (int)mem_get(x->m, &oldest[TILE_RECEIVER]),
                          mem_get(x->m, &oldest[TILE_TAKEN]));
        }
    }
}

/* Writes a tile; `count`: of those of its block, with it. */
static inline void one_way_write(struct one_way *x, int receiver, const struct mem_span *from,
                                 size_t bytes, uint64_t count)
{
    uint64_t *tile = x->mine->tile[x->next++ % AHEAD_MAX];

    mem_in_all(x->m, (char *)mem_window(x->m, x->me) + x->at % x->window_bytes, from->view,
               from->offset_bytes, bytes);
    mem_put(x->m, &tile[TILE_RECEIVER], (uint64_t)receiver);
    mem_put(x->m, &tile[TILE_TAKEN], one_way_count(x->op, ANSWERED + count));
    mem_put(x->m, &tile[TILE_AT], x->at);
    x->at += mem_lines(bytes);
}

/* Sends what is left of a block, tile by tile; the cell announces the first one, and where that
 * is: its receiver only follows to the others. */
static inline void one_way_send_tiles(struct one_way *x, int receiver, mem_flag *cell,
                                      const struct block *block)
{
    struct mem_span from = block->at;
    size_t tile = one_way_tile_bytes(x), reach = tiles_reach(block->bytes, x->window_bytes);

    for (size_t done = 0, count = 1; done < block->bytes; count++) {
        size_t rest = block->bytes - done, bytes = rest < tile ? rest : tile;
        one_way_make_room(x, bytes, count == 1 ? reach : x->window_bytes);
        if (count == 1) {
            mem_put(x->m, &cell->payload[HEADER_AT], x->at);
            mem_put(x->m, &cell->payload[HEADER_NUMBER], x->next);
        }
        one_way_write(x, receiver, &from, bytes, count);
        if (count == 1)
            mem_post(x->m, cell, 2 * x->op + 1); /* R1 */
        else
            mem_post(x->m, &x->mine->more, x->next); /* R1 */
        done += bytes;
        from.offset_bytes += bytes;
    }
}

/* Sends a block, but for bytes that the kernel has copied; in the cell where that has room. */
static inline void one_way_send(struct one_way *x, int receiver, mem_flag *cell,
                                const struct block *block, size_t moved)
{
    struct block rest = *block;

    rest.at.offset_bytes += moved;
    rest.bytes -= moved;
    bool in_cell = rest.bytes <= (moved == 0 ? one_way_in_cell(x) : 0);
    mem_put(x->m, &cell->payload[HEADER],
            (uint64_t)rest.bytes << HEADER_BITS | (in_cell ? 0 : IN_TILES) |
                (moved == 0 ? 0 : AFTER_DIRECT));
    if (moved != 0)
        mem_put(x->m, &cell->payload[HEADER_MOVED], moved);
    if (in_cell) {
        mem_in_all(x->m, &cell->payload[HEADER_DATA], rest.at.view, rest.at.offset_bytes,
                   rest.bytes);
        mem_post(x->m, cell, 2 * x->op + 1); /* R1 */
    } else {
        one_way_send_tiles(x, receiver, cell, &rest);
    }
}

/* Asks for a place, or publishes one. */
static inline void one_way_announce(const struct one_way *x, mem_flag *cell)
{
    mem_post(x->m, cell, 2 * x->op); /* R1 */
}

/* Bytes of a cell that such a block occupies, from its flag on. */
static inline size_t one_way_cell_bytes(const struct one_way *x, size_t block_bytes)
{
    size_t in_cell =
        block_bytes <= one_way_in_cell(x) ? block_bytes : HEADER_MOVED * sizeof(uint64_t);

    return offsetof(mem_flag, payload[HEADER_DATA]) + in_cell;
}

/* The cell, and the bytes of the window, that the next operation writes if it is like this one;
 * `began`: its position when this one began. */
static inline void one_way_prefetch(const struct one_way *x, mem_flag *cell, size_t block_bytes,
                                    uint64_t began)
{
    size_t bytes = x->at - began < PREFETCH_MAX ? x->at - began : PREFETCH_MAX;

    mem_prefetch_own(x->m, cell, one_way_cell_bytes(x, block_bytes));
    if (bytes == 0)
        return;
    size_t place = x->at % x->window_bytes, reach = tiles_reach(block_bytes, x->window_bytes);
    if (place != 0 && bytes > place) /* they began again at the window's beginning */
        bytes = place;
    if (place + bytes > reach)
        place = 0;
    if (bytes <= reach)
        mem_prefetch_own(x->m, (char *)mem_window(x->m, x->me) + place, bytes);
}

/* ---- tiles, by their receiver ---- */

/* Receives so many bytes of a sender's, tile by tile from the first one on, and drops what the
 * block has no room for. */
static inline void one_way_receive_tiles(const struct one_way *x, int sender, const mem_flag *cell,
                                         struct block block, size_t bytes)
{
    struct one_way_slot *from = mem_slot(x->m, sender);
    uint64_t at = mem_get(x->m, &cell->payload[HEADER_AT]),
             number = mem_get(x->m, &cell->payload[HEADER_NUMBER]);

    size_t max = one_way_tile_bytes(x);

    for (size_t done = 0, count = 1; done < bytes; count++) {
        size_t rest = bytes - done, tile = rest < max ? rest : max;
        at = tiles_run(at, tile, x->window_bytes, x->window_bytes);
        if (count > 1)
            mem_await(x->m, &from->more, number + count); /* A1 */
        block.bytes -=
            block_out_last(x->m, &block.at, block.bytes,
                           (char *)mem_window(x->m, sender) + at % x->window_bytes, tile);
        block.at.offset_bytes += tile;
        one_way_tell(x, sender, x->op, ANSWERED + count);
        at += mem_lines(tile);
        done += tile;
    }
}

/* Before a sender's cell, of its receiver number d, is awaited. */
static inline void one_way_expect(const struct one_way *x, int sender, int d, size_t block_bytes)
{
    mem_flag *cell = one_way_cell(x, sender, d, x->op),
             *next = one_way_cell(x, sender, d, x->op + 1);

    mem_prefetch_next(x->m, cell, 2 * x->op + 1, next, 2 * x->op + 3,
                      one_way_cell_bytes(x, block_bytes));
}

/* Waits for a sender's announcement; true: one for the kernel's copy. */
static inline bool one_way_await_direct(const struct one_way *x, mem_flag *cell)
{
    return mem_await(x->m, cell, 2 * x->op) == 2 * x->op; /* A1 */
}

/* Receives a block, or what the kernel has left of it. */
static inline void one_way_receive(const struct one_way *x, int sender, mem_flag *cell,
                                   struct block block)
{
    mem_await(x->m, cell, 2 * x->op + 1); /* A1 */
    uint64_t header = mem_get(x->m, &cell->payload[HEADER]);
    size_t bytes = header >> HEADER_BITS;

    if (header & AFTER_DIRECT) {
        size_t moved = mem_get(x->m, &cell->payload[HEADER_MOVED]);
        block.at.offset_bytes += moved;
        block.bytes = block_left(block.bytes, moved);
    }
    if (header & IN_TILES)
        one_way_receive_tiles(x, sender, cell, block, bytes);
    else
        block_out(x->m, &block.at, block.bytes, &cell->payload[HEADER_DATA], bytes);
}

#endif
