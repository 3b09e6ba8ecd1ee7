/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * single_box.h - single copy, the long way: the box in each rank's slot, behind its lines.  Through
 * it goes what cannot be reached: packed views, copies that the kernel refuses or cuts short.  It
 * serves one receiver after the other, by halves in turn.  A fragment has the size of a half but
 * for the last, so that no notice of it is needed.  Two ranks count the fragments between them from
 * the first on, both alike, whichever way they go; those of most operations are none.
 *
 * Line                        written by   read by   value k means
 *   slot[r].pair[i].full      r            i         fragment k of the two is in r's box
 *   slot[r].pair[i].taken     r            i         r has taken fragment k of the two out of i's
 *                                                    box; beside it, for r itself, those of the
 *                                                    operations before
 *
 * Edges     R3 -> A3   the copy into the box        happens before  the copy out
 *           R4 -> A4   the copy out of the box      happens before  the next copy into that half,
 *                      and to another rank
 */
#ifndef HUD_ALG_SINGLE_BOX_H
#define HUD_ALG_SINGLE_BOX_H

#include "alg/single.h"

/* Bytes of a view of this rank. */
struct single_part {
    struct mem_span at;
    size_t bytes;
};

/* Fragments that went between this rank and another one in the operations before. */
static inline uint64_t *single_before(struct mem *m, int rank)
{
    return single_pair(m, mem_rank(m), rank)->taken.payload;
}

/* What fragment k of this operation counts as. */
static inline uint64_t single_count(struct mem *m, int rank, size_t k)
{
    return mem_get(m, single_before(m, rank)) + k + 1;
}

/* The operation is over, and had so many fragments, as both count. */
static inline void single_close(struct mem *m, int rank, size_t fragments)
{
    if (fragments != 0)
        mem_put(m, single_before(m, rank), mem_get(m, single_before(m, rank)) + fragments);
}

/* Fragment k is in this rank's box for another one; or in another's for this one. */
static inline void single_full(struct mem *m, int rank, size_t k)
{
    uint64_t count = single_count(m, rank, k);

    mem_post(m, &single_pair(m, mem_rank(m), rank)->full, count); /* R3 */
}

static inline void single_await_full(struct mem *m, int rank, size_t k)
{
    uint64_t count = single_count(m, rank, k);

    mem_await(m, &single_pair(m, rank, mem_rank(m))->full, count); /* A3 */
}

/* This rank has taken fragment k out of another one's box; or another one out of this rank's. */
static inline void single_taken(struct mem *m, int rank, size_t k)
{
    uint64_t count = single_count(m, rank, k);

    mem_post(m, &single_pair(m, mem_rank(m), rank)->taken, count); /* R4 */
}

static inline void single_await_taken(struct mem *m, int rank, size_t k)
{
    uint64_t count = single_count(m, rank, k);

    mem_await(m, &single_pair(m, rank, mem_rank(m))->taken, count); /* A4 */
}

/* Bytes [from, end) of a part. */
static inline struct single_part single_cut(const struct single_part *part, size_t from, size_t end)
{
    struct mem_span at = part->at;

    at.offset_bytes += from;
    return (struct single_part){ at, end - from };
}

/* What of it fragment k holds. */
static inline struct single_part single_fragment(const struct single_part *part, size_t half,
                                                 size_t k)
{
    size_t end = (k + 1) * half;

    return single_cut(part, k * half, end < part->bytes ? end : part->bytes);
}

/* Sends one part to a rank while another one comes from it, either of which may be empty; both may
 * be the same bytes. */
static inline void single_swap(struct mem *m, const struct coll *c, int rank,
                               const struct single_part *out, const struct single_part *in)
{
    size_t half = single_half(c->slot_bytes, mem_size(m)), sends = (out->bytes + half - 1) / half,
           gets = (in->bytes + half - 1) / half;

    for (size_t k = 0; k < sends || k < gets; k++) {
        if (k < sends) {
            struct single_part part = single_fragment(out, half, k);
            if (k >= 2)
                single_await_taken(m, rank, k - 2);
            mem_in_all(m, single_box(m, c, mem_rank(m), k), part.at.view, part.at.offset_bytes,
                       part.bytes);
            single_full(m, rank, k);
        }
        if (k < gets) {
            struct single_part part = single_fragment(in, half, k);
            single_await_full(m, rank, k);
            mem_out(m, part.at.view, single_box(m, c, rank, k), part.at.offset_bytes, part.bytes);
            single_taken(m, rank, k);
        }
    }
    if (sends != 0)
        single_await_taken(m, rank, sends - 1);
    single_close(m, rank, sends > gets ? sends : gets);
}

#endif
