/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * blocks.h - of the family gather_scatter: the path of a block from its sender to its receiver.
 *
 * Shape     A block is in its cell, if it fits.  Otherwise it is sent in tiles, and the cell has
 *           the place of the first tile.  Both ends know the length of tiles, and so the places of
 *           the other tiles.  A block for the kernel to copy is announced first, and bytes that the
 *           kernel did not copy are sent in tiles.
 *
 * Line                       written by  read by      value means
 *   slot[s].cell[d][k % R]   s           d            2 k: s asks d for a place for its block of
 *                                                     operation k (gather), or publishes where the
 *                                                     block is (scatter), so that the kernel copies
 *                                                     it.  2 k + 1: the block, or the rest of
 *                                                     it, is here, or in tiles from here on
 *   slot[s].more             s           receivers    number of tiles that s has written since
 *                                                     the lease began: announces all tiles of a
 *                                                     block but the first
 *
 * Edges     R1 -> A1   a copy into a cell or a tile, and a place  happens before  its receiver's
 *                      that is published                          copy out of it
 *
 * Safety
 *   1. A block that is shorter than its receiver expects ends where its cell says.  Bytes beyond
 *      the receiver's block are dropped, and the call reports the truncation.
 */
#ifndef HUD_ALG_GATHER_SCATTER_BLOCKS_H
#define HUD_ALG_GATHER_SCATTER_BLOCKS_H

#include "alg/gather_scatter/gather_scatter.h"

/* Words of a cell.  The header has the bytes, whether they are in tiles, and whether the kernel has
 * copied some bytes before.  Then follow the bytes of the block; or the place of the first tile,
 * its number, and the number of bytes that the kernel has copied. */
enum { HEADER, HEADER_DATA, HEADER_AT = HEADER_DATA, HEADER_NUMBER, HEADER_MOVED };
enum { IN_TILES = 1, AFTER_DIRECT = 2, HEADER_BITS = 2 };

/* Returns the maximum bytes of a block that fit into a cell. */
static inline size_t gather_scatter_in_cell(const struct gather_scatter *x)
{
    return x->lines * HUD_LINE - offsetof(mem_flag, payload[HEADER_DATA]);
}

static inline size_t gather_scatter_tile_bytes(const struct gather_scatter *x)
{
    return tiles_bytes((size_t)x->c->param[GATHER_SCATTER_TILE], x->window_bytes);
}

/* ---- tiles, by their sender ---- */

/* Returns the maximum number of tiles that are not known to be consumed: the tiles of two
 * operations, up to a limit, so a sender need not wait for receivers of its own operation. */
static inline uint64_t gather_scatter_ahead(const struct gather_scatter *x)
{
    uint64_t two = 2 * (uint64_t)x->receivers;

    return two < AHEAD_MIN ? AHEAD_MIN : two > AHEAD_MAX ? AHEAD_MAX : two;
}

/* Makes room for `bytes` bytes in one run within `reach`, at the window's position.  A sender with
 * too many unconsumed tiles waits for half of them, and so waits seldom. */
static inline void gather_scatter_make_room(struct gather_scatter *x, size_t bytes, size_t reach)
{
    uint64_t ahead = gather_scatter_ahead(x);

    x->at = tiles_run(x->at, bytes, x->window_bytes, reach);
    while (x->first != x->next) {
        const uint64_t *oldest = x->mine->tile[x->first % AHEAD_MAX];
        bool many = x->next - x->first == ahead;
        if (!many && x->at + bytes - mem_get(x->m, &oldest[TILE_AT]) <= x->window_bytes)
            return;
        for (uint64_t i = 0; i < (many ? ahead / 2 : 1); i++) {
            oldest = x->mine->tile[x->first++ % AHEAD_MAX];
            gather_scatter_await(x, (int)mem_get(x->m, &oldest[TILE_RECEIVER]),
                                 mem_get(x->m, &oldest[TILE_TAKEN]));
        }
    }
}

/* Writes a tile.  `count` is the number of tiles of its block so far, including this tile. */
static inline void gather_scatter_write(struct gather_scatter *x, int receiver,
                                        const struct mem_span *from, size_t bytes, uint64_t count)
{
    uint64_t *tile = x->mine->tile[x->next++ % AHEAD_MAX];

    mem_in_all(x->m, (char *)mem_window(x->m, x->me) + x->at % x->window_bytes, from->view,
               from->offset_bytes, bytes);
    mem_put(x->m, &tile[TILE_RECEIVER], (uint64_t)receiver);
    mem_put(x->m, &tile[TILE_TAKEN], gather_scatter_count(x->op, ANSWERED + count));
    mem_put(x->m, &tile[TILE_AT], x->at);
    x->at += mem_lines(bytes);
}

/* Sends the rest of a block, tile by tile.  The cell announces the first tile and its place; the
 * receiver computes the places of the others. */
static inline void gather_scatter_send_tiles(struct gather_scatter *x, int receiver, mem_flag *cell,
                                             const struct block *block)
{
    struct mem_span from = block->at;
    size_t tile = gather_scatter_tile_bytes(x), reach = tiles_reach(block->bytes, x->window_bytes);

    for (size_t done = 0, count = 1; done < block->bytes; count++) {
        size_t rest = block->bytes - done, bytes = rest < tile ? rest : tile;
        gather_scatter_make_room(x, bytes, count == 1 ? reach : x->window_bytes);
        if (count == 1) {
            mem_put(x->m, &cell->payload[HEADER_AT], x->at);
            mem_put(x->m, &cell->payload[HEADER_NUMBER], x->next);
        }
        gather_scatter_write(x, receiver, &from, bytes, count);
        if (count == 1)
            mem_post(x->m, cell, 2 * x->op + 1); /* R1 */
        else
            mem_post(x->m, &x->mine->more, x->next); /* R1 */
        done += bytes;
        from.offset_bytes += bytes;
    }
}

/* Sends a block, except the first `moved` bytes, which the kernel has copied.  Uses the cell if the
 * block fits. */
static inline void gather_scatter_send(struct gather_scatter *x, int receiver, mem_flag *cell,
                                       const struct block *block, size_t moved)
{
    struct block rest = *block;

    rest.at.offset_bytes += moved;
    rest.bytes -= moved;
    bool in_cell = rest.bytes <= (moved == 0 ? gather_scatter_in_cell(x) : 0);
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
        gather_scatter_send_tiles(x, receiver, cell, &rest);
    }
}

/* Announces a cell: asks for a place, or publishes a place. */
static inline void gather_scatter_announce(const struct gather_scatter *x, mem_flag *cell)
{
    mem_post(x->m, cell, 2 * x->op); /* R1 */
}

/* Returns how many bytes of a cell, from its flag on, a block occupies. */
static inline size_t gather_scatter_cell_bytes(const struct gather_scatter *x, size_t block_bytes)
{
    size_t in_cell =
        block_bytes <= gather_scatter_in_cell(x) ? block_bytes : HEADER_MOVED * sizeof(uint64_t);

    return offsetof(mem_flag, payload[HEADER_DATA]) + in_cell;
}

/* Prefetches the cell, and the bytes of the window, which the next operation writes if it is like
 * this operation.  `began` is the window's position when this operation began. */
static inline void gather_scatter_prefetch(const struct gather_scatter *x, mem_flag *cell,
                                           size_t block_bytes, uint64_t began)
{
    size_t bytes = x->at - began < PREFETCH_MAX ? x->at - began : PREFETCH_MAX;

    mem_prefetch_own(x->m, cell, gather_scatter_cell_bytes(x, block_bytes));
    if (bytes == 0)
        return;
    size_t place = x->at % x->window_bytes, reach = tiles_reach(block_bytes, x->window_bytes);
    if (place != 0 && bytes > place) /* the tiles began again at the beginning of the window */
        bytes = place;
    if (place + bytes > reach)
        place = 0;
    if (bytes <= reach)
        mem_prefetch_own(x->m, (char *)mem_window(x->m, x->me) + place, bytes);
}

/* ---- tiles, by their receiver ---- */

/* Receives `bytes` bytes from a sender, tile by tile, and drops bytes for which the block has no
 * room. */
static inline void gather_scatter_receive_tiles(const struct gather_scatter *x, int sender,
                                                const mem_flag *cell, struct block block,
                                                size_t bytes)
{
    struct gather_scatter_slot *from = mem_slot(x->m, sender);
    uint64_t at = mem_get(x->m, &cell->payload[HEADER_AT]),
             number = mem_get(x->m, &cell->payload[HEADER_NUMBER]);

    size_t max = gather_scatter_tile_bytes(x);

    for (size_t done = 0, count = 1; done < bytes; count++) {
        size_t rest = bytes - done, tile = rest < max ? rest : max;
        at = tiles_run(at, tile, x->window_bytes, x->window_bytes);
        if (count > 1)
            mem_await(x->m, &from->more, number + count); /* A1 */
        block.bytes -=
            block_out_as(x->m, &block.at, block.bytes,
                         (char *)mem_window(x->m, sender) + at % x->window_bytes, tile, true);
        block.at.offset_bytes += tile;
        gather_scatter_acknowledge(x, sender, x->op, ANSWERED + count);
        at += mem_lines(tile);
        done += tile;
    }
}

/* Prefetches before a sender's cell for its receiver number d is awaited. */
static inline void gather_scatter_expect(const struct gather_scatter *x, int sender, int d,
                                         size_t block_bytes)
{
    mem_flag *cell = gather_scatter_cell(x, sender, d, x->op),
             *next = gather_scatter_cell(x, sender, d, x->op + 1);

    mem_prefetch_next(x->m, cell, 2 * x->op + 1, next, 2 * x->op + 3,
                      gather_scatter_cell_bytes(x, block_bytes));
}

/* Waits for a sender's announcement.  Returns true if the announcement is for a copy by the
 * kernel. */
static inline bool gather_scatter_await_direct(const struct gather_scatter *x, mem_flag *cell)
{
    return mem_await(x->m, cell, 2 * x->op) == 2 * x->op; /* A1 */
}

/* Receives a block, or the part of the block that the kernel has not copied. */
static inline void gather_scatter_receive(const struct gather_scatter *x, int sender,
                                          mem_flag *cell, struct block block)
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
        gather_scatter_receive_tiles(x, sender, cell, block, bytes);
    else
        block_out(x->m, &block.at, block.bytes, &cell->payload[HEADER_DATA], bytes);
}

#endif
