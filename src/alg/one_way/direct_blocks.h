/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * direct_blocks.h - of the family one_way: blocks that the kernel copies, between the root and a
 * rank.  In a scatter the root publishes where they are, and the others pull them.  In a gather it
 * answers where they go, and the others push them.  Lines, edges and proof: one_way.h, blocks.h.
 */
#ifndef HUD_ALG_DIRECT_BLOCKS_H
#define HUD_ALG_DIRECT_BLOCKS_H

#include "alg/one_way/blocks.h"

/* A block of so many bytes shares no table of pages with others, but at its ends.  So copies of
 * such blocks hardly wait for each other, and pieces would only cost more calls. */
enum { WHOLE_MIN = 2 << 20 };

/* The kernel copies a block. */
static inline bool one_way_is_direct(const struct one_way *x, const struct block *block)
{
    return x->direct_bytes != 0 && block->bytes >= x->direct_bytes &&
           mem_expose(x->m, block->at.view) != 0;
}

/* While the kernel copies other blocks, tiles carry those of so many ranks right after the root:
 * three quarters of all ranks but the root at most, and up to the first block with which they would
 * have more than `tiled` bytes.  Copies by all ranks at once from one process, or to it, wait for
 * each other in the kernel, and the root would be idle (docs/evidence/kernel-copies.csv). */
static inline int one_way_tiled_ranks(const struct one_way *x, const struct hud_view *blocks,
                                      bool equal)
{
    int ranks = 0;

    for (size_t sum = 0; ranks < 3 * (x->ranks - 1) / 4; ranks++) {
        sum += equal ? x->c->bytes : blocks[one_way_next(x, ranks + 1)].bytes;
        if (sum > x->tiled_bytes)
            break;
    }
    return ranks;
}

/* The kernel copies so many bytes of a block at a time; 0: all. */
static inline size_t one_way_piece(const struct one_way *x, const struct block *block)
{
    return block->bytes < WHOLE_MIN ? x->piece_bytes : 0;
}

/* ---- a scatter ---- */

/* The root: where a rank's block is. */
static inline void one_way_publish(const struct one_way *x, mem_flag *cell,
                                   const struct block *block)
{
    direct_publish(x->m, cell->payload, block, 0);
    one_way_announce(x, cell);
}

/* The rank pulls it from there.  Returns whether all of it has come. */
static inline bool one_way_pull(const struct one_way *x, int root, const mem_flag *cell,
                                const struct block *place)
{
    const struct direct from = direct_read(x->m, cell->payload);
    size_t pulled = direct_pull(x->m, root, &from, place, one_way_piece(x, place));

    mem_put(x->m, x->mine->taken[root].payload, pulled);
    one_way_tell(x, root, x->op, ANSWERED);
    return pulled == from.word[DIRECT_BYTES];
}

/* The root waits until the rank has pulled, and sends what it could not. */
static inline void one_way_finish(struct one_way *x, int rank, mem_flag *cell,
                                  const struct block *block)
{
    struct one_way_slot *puller = mem_slot(x->m, rank);
    uint64_t answer = one_way_count(x->op, ANSWERED);

    if (one_way_await(x, rank, answer) != answer) /* it discards the rest */
        return;
    size_t pulled = mem_get(x->m, puller->taken[x->me].payload);
    if (pulled < block->bytes)
        one_way_send(x, rank, cell, block, pulled);
}

/* ---- a gather ---- */

/* The root: where the sender's block goes; or nowhere, for one that is to go in tiles. */
static inline void one_way_answer(const struct one_way *x, int sender, const struct block *place,
                                  bool direct)
{
    direct_publish(x->m, x->mine->taken[sender].payload, place, direct ? 0 : SIZE_MAX);
    one_way_tell(x, sender, x->op, ANSWERED);
}

/* The sender asks for that place, and pushes.  Returns the bytes that are there. */
static inline size_t one_way_push(const struct one_way *x, int root, mem_flag *cell,
                                  const struct block *block)
{
    struct one_way_slot *roots = mem_slot(x->m, root);
    uint64_t answer = one_way_count(x->op, ANSWERED);

    one_way_announce(x, cell);
    if (one_way_await(x, root, answer) != answer)
        return 0;
    const struct direct to = direct_read(x->m, roots->taken[x->me].payload);
    return direct_push(x->m, root, &to, block, one_way_piece(x, block));
}

#endif
