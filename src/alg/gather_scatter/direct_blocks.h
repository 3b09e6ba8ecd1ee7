/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * direct_blocks.h - of the family gather_scatter: blocks that the kernel copies, between the root
 * and a rank.  In a scatter, the root publishes where they are, and the other ranks pull them.  In
 * a gather, it answers where they go, and the others push them.  Lines, edges and proof:
 * gather_scatter.h, blocks.h.
 */
#ifndef HUD_ALG_DIRECT_BLOCKS_H
#define HUD_ALG_DIRECT_BLOCKS_H

#include "alg/gather_scatter/blocks.h"

/* Minimum size of a block that the kernel copies whole, in bytes.  Such a block shares page tables
 * with other blocks only at its ends, so copies hardly wait for each other, and pieces would only
 * cost more calls. */
enum { WHOLE_MIN = 2 << 20 };

/* Reports whether the kernel copies a block. */
static inline bool gather_scatter_is_direct(const struct gather_scatter *x,
                                            const struct block *block)
{
    return x->direct_bytes != 0 && block->bytes >= x->direct_bytes &&
           mem_expose(x->m, block->at.view) != 0;
}

/*
 * Returns for how many ranks, right after the root, tiles carry the blocks while the kernel copies
 * other blocks.  This is at most three quarters of all ranks except the root, and ends before the
 * block with which the blocks would exceed `tiled` bytes in all.  Copies by all ranks at once from
 * the same process, or to the same process, wait for each other in the kernel, and the root would
 * be idle (lab/evidence/kernel-copies.csv).
 */
static inline int gather_scatter_tiled_ranks(const struct gather_scatter *x,
                                             const struct hud_view *blocks, bool equal)
{
    int ranks = 0;

    for (size_t sum = 0; ranks < 3 * (x->ranks - 1) / 4; ranks++) {
        sum += equal ? x->c->bytes : blocks[gather_scatter_next(x, ranks + 1)].bytes;
        if (sum > x->tiled_bytes)
            break;
    }
    return ranks;
}

/* Returns how many bytes of a block the kernel copies at a time; 0: all. */
static inline size_t gather_scatter_piece(const struct gather_scatter *x, const struct block *block)
{
    return block->bytes < WHOLE_MIN ? x->piece_bytes : 0;
}

/* ---- a scatter ---- */

/* Publishes, at the root, where a rank's block is. */
static inline void gather_scatter_publish(const struct gather_scatter *x, mem_flag *cell,
                                          const struct block *block)
{
    direct_publish(x->m, cell->payload, block, 0);
    gather_scatter_announce(x, cell);
}

/* Pulls this rank's block from the published place.  Returns whether the whole block has
 * arrived. */
static inline bool gather_scatter_pull(const struct gather_scatter *x, int root,
                                       const mem_flag *cell, const struct block *place)
{
    const struct direct from = direct_read(x->m, cell->payload);
    size_t pulled = direct_pull(x->m, root, &from, place, gather_scatter_piece(x, place));

    mem_put(x->m, x->mine->consumed[root].payload, pulled);
    gather_scatter_acknowledge(x, root, x->op, ANSWERED);
    return pulled == from.word[DIRECT_BYTES];
}

/* Waits, at the root, until the rank has pulled, and sends the bytes which the rank could not
 * pull. */
static inline void gather_scatter_finish(struct gather_scatter *x, int rank, mem_flag *cell,
                                         const struct block *block)
{
    struct gather_scatter_slot *puller = mem_slot(x->m, rank);
    uint64_t answer = gather_scatter_count(x->op, ANSWERED);

    if (gather_scatter_await(x, rank, answer) != answer) /* the rank discards the rest */
        return;
    size_t pulled = mem_get(x->m, puller->consumed[x->me].payload);
    if (pulled < block->bytes)
        gather_scatter_send(x, rank, cell, block, pulled);
}

/* ---- a gather ---- */

/* Answers, at the root, where the sender's block goes.  If `direct` is false, the answer is
 * "nowhere", and the block is sent in tiles. */
static inline void gather_scatter_answer(const struct gather_scatter *x, int sender,
                                         const struct block *place, bool direct)
{
    direct_publish(x->m, x->mine->consumed[sender].payload, place, direct ? 0 : SIZE_MAX);
    gather_scatter_acknowledge(x, sender, x->op, ANSWERED);
}

/* Asks the root for a place, and pushes the block there.  Returns the number of bytes pushed. */
static inline size_t gather_scatter_push(const struct gather_scatter *x, int root, mem_flag *cell,
                                         const struct block *block)
{
    struct gather_scatter_slot *roots = mem_slot(x->m, root);
    uint64_t answer = gather_scatter_count(x->op, ANSWERED);

    gather_scatter_announce(x, cell);
    if (gather_scatter_await(x, root, answer) != answer)
        return 0;
    const struct direct to = direct_read(x->m, roots->consumed[x->me].payload);
    return direct_push(x->m, root, &to, block, gather_scatter_piece(x, block));
}

#endif
