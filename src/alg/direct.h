/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * direct.h - blocks that the kernel copies from one process to another: the words by which their
 * owner shows another rank where one is, and the copies.
 *
 * A block is shown in DIRECT_WORDS words of shared memory.  The algorithm orders them: they are
 * written before a post, and read after its await.  The owner returns from the call only after the
 * other rank has said that it has copied.
 *
 * Copies may come to nothing, or stop early.  What was not copied, the caller moves otherwise.
 */
#ifndef HUD_ALG_DIRECT_H
#define HUD_ALG_DIRECT_H

#include "alg/block.h"

/* Where a block is: the address of its view, 0: out of reach; its place there; its bytes. */
enum { DIRECT_ADDRESS, DIRECT_OFFSET, DIRECT_BYTES, DIRECT_WORDS };

/* As other ranks read it. */
struct direct {
    uint64_t word[DIRECT_WORDS];
};

/* Shows a block; one below so many bytes as out of reach. */
static inline void direct_show(struct mem *m, uint64_t *words, const struct mem_span *block,
                               size_t bytes, size_t least_bytes)
{
    mem_put(m, &words[DIRECT_ADDRESS], bytes < least_bytes ? 0 : mem_expose(m, block->view));
    mem_put(m, &words[DIRECT_OFFSET], block->offset_bytes);
    mem_put(m, &words[DIRECT_BYTES], bytes);
}

static inline struct direct direct_shown(struct mem *m, const uint64_t *words)
{
    struct direct shown;

    for (int i = 0; i < DIRECT_WORDS; i++)
        shown.word[i] = mem_get(m, words + i);
    return shown;
}

/* Pushes a block into the one that a rank shows, if that holds it; returns the bytes pushed. */
static inline size_t direct_push(struct mem *m, int rank, const struct direct *to,
                                 const struct mem_span *block, size_t bytes)
{
    bool reached = to->word[DIRECT_ADDRESS] != 0 && bytes <= to->word[DIRECT_BYTES] &&
                   mem_expose(m, block->view) != 0;

    return reached
               ? mem_push(m, block, rank, to->word[DIRECT_ADDRESS], to->word[DIRECT_OFFSET], bytes)
               : 0;
}

/* Pulls the block that a rank shows into one with so much room, and drops what that does not hold.
 * Returns the bytes pulled or dropped. */
static inline size_t direct_pull(struct mem *m, int rank, const struct direct *from,
                                 const struct mem_span *block, size_t room_bytes)
{
    size_t bytes = from->word[DIRECT_BYTES], fit = bytes < room_bytes ? bytes : room_bytes,
           moved = 0;

    if (from->word[DIRECT_ADDRESS] != 0 && mem_expose(m, block->view) != 0)
        moved =
            mem_pull(m, block, rank, from->word[DIRECT_ADDRESS], from->word[DIRECT_OFFSET], fit);
    if (fit < bytes)
        block_truncate(m);
    return moved == fit ? bytes : moved;
}

#endif
