/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bruck.h - alltoall/messages in the form bruck: short blocks travel together, and each block takes
 * several steps.
 *
 * Source    Bruck et al. 1997.
 * Shape     p ranks, ceil(log2 p) steps.  A rank keeps p blocks, ordered by the distance from their
 *           sender to their receiver, each with its length.  In step k it sends the blocks whose
 *           distance has bit k to the rank 2^k further on, in chunks of as many blocks as fit into
 *           a cell, and receives such chunks from the rank 2^k before it.
 *
 * Line                      written by  read by  meaning
 *   slot[r].kept[distance]  r           r        (plain) a block on its way, behind the pairs
 *
 * Deadlock freedom
 *   1. A rank is at (s, k) until it has sent and received chunk k of step s.  It waits there for a
 *      cell that its receiver frees at an earlier (s, k), or for a chunk that its sender sends at
 *      this (s, k).  The sender itself waits at most for an earlier (s, k).  So a rank at the
 *      minimum waits for no other rank.
 *
 * Safety
 *   1. A cell holds the same number of blocks for any size of blocks, and chunk k is sent before
 *      chunk k is received.  So a block in transit is not overwritten before it was sent.
 */
#ifndef HUD_ALG_BRUCK_H
#define HUD_ALG_BRUCK_H

#include "alg/block.h"
#include "lab/alg/messages/messages.h"

enum {
    BRUCK_MAX = 256,
    BRUCK_STRIDE = 8 + BRUCK_MAX
}; /* maximum bytes of a block, without and with its length */

static inline char *bruck_kept(const struct messages *x, int distance)
{
    char *behind = (char *)messages_pair(x, mem_rank(x->m), mem_size(x->m));

    return behind + (size_t)distance * BRUCK_STRIDE;
}

/* Returns the next distance with this bit.  The result is at least `ranks` if there is none. */
static inline int bruck_next(int bit, int distance)
{
    for (distance++; !(distance & bit);)
        distance++;
    return distance;
}

static inline size_t bruck_copy_block(struct mem *m, char *to, const char *from)
{
    size_t bytes = mem_get(m, (const uint64_t *)(const void *)from);

    mem_put(m, (uint64_t *)(void *)to, bytes);
    mem_copy(m, to + 8, from + 8, bytes);
    return BRUCK_STRIDE;
}

/* Moves as many blocks as fit into a cell, from this distance on, into the cell or out of the cell.
 * Returns the distance of the next block. */
static inline int bruck_move_blocks(const struct messages *x, char *cell, int bit, int distance,
                                    bool send)
{
    size_t room = x->max_bytes / BRUCK_STRIDE;

    for (; room > 0 && distance < mem_size(x->m); distance = bruck_next(bit, distance), room--) {
        char *kept = bruck_kept(x, distance);
        cell += bruck_copy_block(x->m, send ? cell : kept, send ? kept : cell);
    }
    return distance;
}

static inline void bruck_step(const struct messages *x, int bit)
{
    int me = mem_rank(x->m), ranks = mem_size(x->m), to = (me + bit) % ranks,
        from = (me + ranks - bit) % ranks;

    for (int at = bit, end; at < ranks; at = end) {
        mem_flag *cell = messages_free_cell(x, to);
        end = bruck_move_blocks(x, messages_data(cell), bit, at, true);
        messages_send(x, to, cell, 0);
        bruck_move_blocks(x, messages_data(messages_await(x, from)), bit, at, false);
        messages_acknowledge(x, from);
    }
}

/* Exchanges all blocks, including this rank's own. */
static inline void bruck_run(const struct messages *x, const struct coll *c)
{
    int me = mem_rank(x->m), ranks = mem_size(x->m);

    for (int k = 0; k < ranks; k++) {
        char *kept = bruck_kept(x, k);
        mem_put(x->m, (uint64_t *)(void *)kept, c->bytes);
        mem_in_all(x->m, kept + 8, c->in, (size_t)((me + k) % ranks) * c->bytes, c->bytes);
    }
    for (int bit = 1; bit < ranks; bit *= 2)
        bruck_step(x, bit);
    for (int k = 0; k < ranks; k++) {
        char *kept = bruck_kept(x, k);
        const struct mem_span to = block_at(c->out, c->bytes, (me + ranks - k) % ranks);
        block_out(x->m, &to, c->bytes, kept + 8, mem_get(x->m, (uint64_t *)(void *)kept));
    }
}

#endif
