/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * blocks.h - of the family one_way: how a block goes from its sender to its receiver.
 *
 * Shape     In its cell, if that has room.  Else in tiles, of which the cell has the place of the
 *           first; both ends know how long tiles are, and so where the others lie.  What the kernel
 *           is to copy is announced first, and what it did not copy goes in tiles.
 *
 * Line                       written by  read by      value means
 *   slot[s].cell[d][k % R]   s           d            2 k: where s's block of operation k is, for
 *                                                     the kernel to copy it.  2 k + 1: the block,
 *                                                     or what is left of it, is here, or in tiles
 *                                                     from here on
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

#include "alg/claims.h"
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

/* ---- tiles, by their sender ---- */

/* So many bytes, in one run, are free at the window's position.  A sender that has too many tiles
 * out waits for half of them, so that it waits seldom. */
static inline void one_way_make_room(struct one_way *x, size_t bytes)
{
    x->at = tiles_run(x->at, bytes, x->window_bytes);
    while (x->first != x->next) {
        const uint64_t *oldest = x->mine->tile[x->first % AHEAD_MAX];
        bool many = x->next - x->first == x->ahead;
        if (!many && x->at + bytes - mem_get(x->m, &oldest[TILE_AT]) <= x->window_bytes)
            return;
        for (uint64_t i = 0; i < (many ? x->ahead / 2 : 1); i++) {
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
    mem_put(x->m, &tile[TILE_TAKEN], one_way_count(x->op, PULLED + count));
    mem_put(x->m, &tile[TILE_AT], x->at);
    x->at += mem_lines(bytes);
}

/* Sends what is left of a block, tile by tile; the cell announces the first one. */
static inline void one_way_send_tiles(struct one_way *x, int receiver, mem_flag *cell,
                                      const struct block *block)
{
    struct mem_span from = block->at;

    for (size_t done = 0, count = 1; done < block->bytes; count++) {
        size_t rest = block->bytes - done, bytes = rest < x->tile_bytes ? rest : x->tile_bytes;
        one_way_make_room(x, bytes);
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

/* ---- blocks that the kernel copies ---- */

/* Words of a cell: where the block is.  Words of an answer: where it goes; what the receiver has
 * pulled.  In those of the rank that is not the root: where its counter of claims begins. */
enum { BLOCK_CLAIMS = DIRECT_WORDS };
enum { PLACE_CLAIMS = DIRECT_WORDS, PLACE_PULLED };

static inline bool one_way_is_direct(const struct one_way *x, const struct block *block)
{
    return x->direct_bytes != 0 && block->bytes >= x->direct_bytes &&
           mem_expose(x->m, block->at.view) != 0;
}

/* By the sender. */
static inline void one_way_publish(const struct one_way *x, mem_flag *cell,
                                   const struct block *block)
{
    direct_publish(x->m, cell->payload, block, 0);
    mem_put(x->m, &cell->payload[BLOCK_CLAIMS], claims_before(x->m, &x->mine->claims));
    mem_post(x->m, cell, 2 * x->op); /* R1 */
}

/* By the receiver: where a sender's block goes.  Places of fewer than min_bytes are out of reach.
 */
static inline void one_way_offer(const struct one_way *x, int sender, const struct block *place,
                                 size_t min_bytes)
{
    uint64_t *words = x->mine->taken[sender].payload;

    direct_publish(x->m, words, place, min_bytes);
    mem_put(x->m, &words[PLACE_CLAIMS], claims_before(x->m, &x->mine->claims));
    one_way_tell(x, sender, x->op, ANSWERED);
}

/* By the sender: a receiver's answer; NULL: it discards the block. */
static inline const uint64_t *one_way_await_place(const struct one_way *x, int receiver)
{
    struct one_way_slot *slot = mem_slot(x->m, receiver);
    uint64_t place = one_way_count(x->op, ANSWERED);

    return one_way_await(x, receiver, place) - place <= PULLED - ANSWERED
               ? slot->taken[x->me].payload
               : NULL;
}

/*
 * Two ranks both copy.  With more the root would come to most blocks late, and the others wait for
 * it: 8 ranks on 2 cores took twice as long (docs/evidence/E67.csv).
 */
static inline bool one_way_is_pair(const struct one_way *x)
{
    return x->ranks == 2;
}

/* The block fills its place, which the kernel reaches. */
static inline bool one_way_is_shared(const struct direct *block, const struct direct *place)
{
    return place->word[DIRECT_ADDRESS] != 0 &&
           block->word[DIRECT_BYTES] == place->word[DIRECT_BYTES];
}

/* Of a block between the root, which begins at its end, and the other rank, whose counter it is. */
static inline struct claims one_way_claims(const struct one_way *x, int other, uint64_t before,
                                           size_t bytes)
{
    struct one_way_slot *slot = mem_slot(x->m, other);

    return (struct claims){ .m = x->m,
                            .counter = &slot->claims,
                            .before = before,
                            .bytes = bytes,
                            .most = bytes,
                            .from_end = other != x->me };
}

/* By the receiver. */
static inline void one_way_report(const struct one_way *x, int sender, size_t pulled)
{
    mem_put(x->m, &x->mine->taken[sender].payload[PLACE_PULLED], pulled);
    one_way_tell(x, sender, x->op, PULLED);
}

/* By the sender, to whom the receiver has answered. */
static inline size_t one_way_await_pulled(const struct one_way *x, int receiver)
{
    const struct one_way_slot *slot = mem_slot(x->m, receiver);

    one_way_await(x, receiver, one_way_count(x->op, PULLED));
    return mem_get(x->m, &slot->taken[x->me].payload[PLACE_PULLED]);
}

/* The cell, and the bytes of the window, that the next operation writes if it is like this one;
 * `began`: its position when this one began. */
static inline void one_way_prefetch(const struct one_way *x, mem_flag *cell, size_t block_bytes,
                                    uint64_t began)
{
    size_t bytes = x->at - began < PREFETCH_MAX ? x->at - began : PREFETCH_MAX,
           place = x->at % x->window_bytes,
           in_cell =
               block_bytes <= one_way_in_cell(x) ? block_bytes : HEADER_MOVED * sizeof(uint64_t);

    mem_prefetch_own(x->m, cell, sizeof cell->value + HEADER_DATA * sizeof(uint64_t) + in_cell);
    if (bytes != 0 && place + bytes <= x->window_bytes)
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

    for (size_t done = 0, count = 1; done < bytes; count++) {
        size_t rest = bytes - done, tile = rest < x->tile_bytes ? rest : x->tile_bytes;
        at = tiles_run(at, tile, x->window_bytes);
        if (count > 1)
            mem_await(x->m, &from->more, number + count); /* A1 */
        block.bytes -= block_out(x->m, &block.at, block.bytes,
                                 (char *)mem_window(x->m, sender) + at % x->window_bytes, tile);
        block.at.offset_bytes += tile;
        one_way_tell(x, sender, x->op, PULLED + count);
        at += mem_lines(tile);
        done += tile;
    }
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
