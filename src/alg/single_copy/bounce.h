/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bounce.h - the bounce buffers of the family `single_copy`, for bytes that the kernel does not
 * copy: packed views, and copies that it refuses or cuts short.
 *
 * Shape     Missing bytes go through the bounce buffer of their sender, after the reports.  The
 *           buffer has two halves, used in turn, and serves one receiver after the other.
 *
 * Line                               written by  read by  value k means
 *   slot[r].pair[i].full             r           i        fragment k of the two is in r's bounce
 *                                                         buffer
 *   slot[r].pair[i].acknowledged     r           i        r has consumed fragment k of the two out
 *                                                         of i's bounce buffer; with it, for r
 *                                                         itself, those of the operations before
 *
 * Edges     R3 -> A3   the copy into a bounce buffer    happens before  the copy out
 *           R4 -> A4   the copy out of a bounce buffer  happens before  the next copy into that
 *                      half, and to another rank
 *
 * Not needed
 *   R4, A4 by reduce_scatter/cma_read: no other rank copies out of an owner's buffer, and its R3
 *   announces that it has reduced the others' contributions
 *
 * Deadlock freedom
 *   1. Two ranks exchange missing bytes only after each has received the other's report, and go
 *      through these bytes in the same order.  The order of pairs is the same on all ranks.
 * Safety
 *   1. Every fragment except the last has the size of a half, so no header is needed.  Two ranks
 *      count the fragments between them from the first on, with the same result, for both
 *      directions.
 */
#ifndef HUD_ALG_BOUNCE_H
#define HUD_ALG_BOUNCE_H

#include "alg/single_copy/single_copy.h"

static inline char *bounce_at(struct mem *m, const struct coll *c, int owner, size_t k)
{
    return (char *)mem_window(m, owner) + k % 2 * single_half(c->place->window_bytes);
}

/* Returns the address of the number of fragments exchanged between this rank and another rank in
 * the earlier operations. */
static inline uint64_t *bounce_before(struct mem *m, int rank)
{
    return single_pair(m, mem_rank(m), rank)->acknowledged.payload;
}

/* Returns the count of fragment k of this operation. */
static inline uint64_t bounce_count(struct mem *m, int rank, size_t k)
{
    return mem_get(m, bounce_before(m, rank)) + k + 1;
}

/* Counts the fragments of a finished operation.  Both ranks do so. */
static inline void bounce_add_fragments(struct mem *m, int rank, size_t fragments)
{
    if (fragments != 0)
        mem_put(m, bounce_before(m, rank), mem_get(m, bounce_before(m, rank)) + fragments);
}

/* Announces fragment k in this rank's bounce buffer for another rank.  bounce_await_full() waits
 * for fragment k in another rank's buffer for this rank. */
static inline void bounce_post_full(struct mem *m, int rank, size_t k)
{
    uint64_t count = bounce_count(m, rank, k);

    mem_post(m, &single_pair(m, mem_rank(m), rank)->full, count); /* R3 */
}

static inline void bounce_await_full(struct mem *m, int rank, size_t k)
{
    uint64_t count = bounce_count(m, rank, k);

    mem_await(m, &single_pair(m, rank, mem_rank(m))->full, count); /* A3 */
}

/* Acknowledges fragment k of another rank's bounce buffer.  bounce_await_acknowledged() waits until
 * another rank has acknowledged fragment k of this rank's buffer. */
static inline void bounce_post_acknowledged(struct mem *m, int rank, size_t k)
{
    uint64_t count = bounce_count(m, rank, k);

    mem_post(m, &single_pair(m, mem_rank(m), rank)->acknowledged, count); /* R4 */
}

static inline void bounce_await_acknowledged(struct mem *m, int rank, size_t k)
{
    uint64_t count = bounce_count(m, rank, k);

    mem_await(m, &single_pair(m, rank, mem_rank(m))->acknowledged, count); /* A4 */
}

/* Returns the bytes of a part that are in fragment k. */
static inline struct block bounce_fragment(const struct block *part, size_t half, size_t k)
{
    size_t end = (k + 1) * half;

    return single_cut(part, k * half, end < part->bytes ? end : part->bytes);
}

/* Sends a part to a rank while another part comes from the rank.  Either part may be empty, and
 * both may be the same bytes.  Received bytes beyond room_bytes are dropped. */
static inline void bounce_swap(struct mem *m, const struct coll *c, int rank,
                               const struct block *out, const struct block *in, size_t room_bytes)
{
    size_t half = single_half(c->place->window_bytes), sends = (out->bytes + half - 1) / half,
           gets = (in->bytes + half - 1) / half;

    for (size_t k = 0; k < sends || k < gets; k++) {
        if (k < sends) {
            struct block part = bounce_fragment(out, half, k);
            if (k >= 2)
                bounce_await_acknowledged(m, rank, k - 2);
            mem_in_all(m, bounce_at(m, c, mem_rank(m), k), part.at.view, part.at.offset_bytes,
                       part.bytes);
            bounce_post_full(m, rank, k);
        }
        if (k < gets) {
            struct block part = bounce_fragment(in, half, k);
            bounce_await_full(m, rank, k);
            block_out(m, &part.at, block_left(room_bytes, k * half), bounce_at(m, c, rank, k),
                      part.bytes);
            bounce_post_acknowledged(m, rank, k);
        }
    }
    if (sends != 0)
        bounce_await_acknowledged(m, rank, sends - 1);
    bounce_add_fragments(m, rank, sends > gets ? sends : gets);
}

#endif
