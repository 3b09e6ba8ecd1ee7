/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * direct.h - blocks that the kernel copies from one process to another: the words with which their
 * owner publishes where a block is, and the copies.
 *
 * A block is published in DIRECT_WORDS words of shared memory.  The algorithm orders the accesses
 * to them: they are written before a post, and read after its await.  The owner returns from the
 * call only after the other rank has reported that it has copied.
 *
 * A copy may fail or stop early.  The caller must then move the remaining bytes in another way.
 */
#ifndef HUD_ALG_DIRECT_H
#define HUD_ALG_DIRECT_H

#include "alg/block.h"

/* Where a block is: the address of its view (0: out of reach), the block's offset in the view, and
 * its bytes. */
enum { DIRECT_ADDRESS, DIRECT_OFFSET, DIRECT_BYTES, DIRECT_WORDS };

/* The words as other ranks read them. */
struct direct {
    uint64_t word[DIRECT_WORDS];
};

/* Publishes a block.  A block of fewer than min_bytes bytes is published as out of reach. */
static inline void direct_publish(struct mem *m, uint64_t *words, const struct block *block,
                                  size_t min_bytes)
{
    mem_put(m, &words[DIRECT_ADDRESS],
            block->bytes < min_bytes ? 0 : mem_expose(m, block->at.view));
    mem_put(m, &words[DIRECT_OFFSET], block->at.offset_bytes);
    mem_put(m, &words[DIRECT_BYTES], block->bytes);
}

static inline struct direct direct_read(struct mem *m, const uint64_t *words)
{
    struct direct block;

    for (int i = 0; i < DIRECT_WORDS; i++)
        block.word[i] = mem_get(m, words + i);
    return block;
}

/* Moves bytes from a span to the block published by a rank (push), or from the block to the span.
 * Moves piece_bytes bytes in each call of the kernel (0: all).  Returns the number of bytes
 * moved. */
static inline size_t direct_move(struct mem *m, bool push, int rank, const struct direct *there,
                                 struct mem_span here, size_t bytes, size_t piece_bytes)
{
    uint64_t address = there->word[DIRECT_ADDRESS], at = there->word[DIRECT_OFFSET];
    size_t done = 0;

    if (address == 0 || bytes == 0 || mem_expose(m, here.view) == 0)
        return 0;
    while (done < bytes) {
        size_t left = bytes - done,
               piece = piece_bytes == 0 || left < piece_bytes ? left : piece_bytes,
               moved = push ? mem_push(m, &here, rank, address, at + done, piece)
                            : mem_pull(m, &here, rank, address, at + done, piece);
        done += moved;
        here.offset_bytes += moved;
        if (moved < piece)
            break;
    }
    return done;
}

/* Pushes a block, in pieces, into the block published by a rank, if the latter is large enough.
 * Returns the number of bytes pushed. */
static inline size_t direct_push(struct mem *m, int rank, const struct direct *to,
                                 const struct block *block, size_t piece_bytes)
{
    size_t fit = block->bytes <= to->word[DIRECT_BYTES] ? block->bytes : 0;

    return direct_move(m, true, rank, to, block->at, fit, piece_bytes);
}

/* Pulls the block published by a rank, in pieces, into another block, and drops bytes for which
 * there is no room.  Returns the number of bytes pulled or dropped. */
static inline size_t direct_pull(struct mem *m, int rank, const struct direct *from,
                                 const struct block *block, size_t piece_bytes)
{
    size_t bytes = from->word[DIRECT_BYTES], fit = bytes < block->bytes ? bytes : block->bytes,
           moved = direct_move(m, false, rank, from, block->at, fit, piece_bytes);

    if (fit < bytes)
        block_truncate(m);
    return moved == fit ? bytes : moved;
}

#endif
