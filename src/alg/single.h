/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * single.h - what the single-copy algorithms share: each pair of ranks tells each other where its buffers lie, copies by the kernel, and tells what it lacks then.
 *
 * What cannot be reached (a packed view, one that is used in place, a copy that the kernel refuses or cuts short) goes through a box of two halves in the sender's
 * slot, one receiver after the other, once all have copied what they could.  A fragment has the size of a half but for the last, so that no notice of it is needed.
 *
 * Line                        written by   read by   value k means
 *   slot[r].pair[i].here      r            i         r has entered operation k; with it, where what it lets i use is
 *   slot[r].pair[i].told      r            i         r uses nothing of i's in operation k any more; with it, what it lacks of what i sends
 *   slot[r].pair[i].full      r            i         fragment k is in r's box: the low half counts those of an operation, the high half is the operation's
 *   slot[r].pair[i].taken     r            i         r has taken fragment k out of i's box
 *
 * Edges     R1 -> A1   an entry                     happens before  the other's use of the view
 *           R2 -> A2   the use of another's view    happens before  its owner's return
 *           R3 -> A3   the copy into the box        happens before  the copy out
 *           R4 -> A4   the copy out of the box      happens before  the next copy into that half, and to another rank
 */
#ifndef HUD_ALG_SINGLE_H
#define HUD_ALG_SINGLE_H

#include "alg/alg.h"

enum { SINGLE_HALF = 32 << 10 }; /* bytes of half a box; less where the lease holds less */

struct single_pair {
    mem_flag here, told, full, taken;
};

/* What a rank lets another one use: the payload of here.  Address 0: out of reach. */
struct single_place {
    uint64_t address, offset_bytes, bytes;
};

/* Bytes that did not come: the payload of told. */
struct single_lack {
    uint64_t from, end;
};

/* Bytes of a view of this rank. */
struct single_part {
    struct mem_span at;
    size_t bytes;
};

static inline struct single_pair *single_pair(struct mem *m, int owner, int other)
{
    return (struct single_pair *)mem_slot(m, owner) + other;
}

static inline size_t single_half(size_t slot_bytes, int ranks)
{
    size_t pairs = (size_t)ranks * sizeof(struct single_pair);
    size_t half = slot_bytes > pairs ? (slot_bytes - pairs) / 2 / HUD_LINE * HUD_LINE : 0;

    return half < SINGLE_HALF ? half : SINGLE_HALF;
}

static inline size_t single_slot_bytes(const long *param, int ranks, size_t most_bytes)
{
    size_t half = single_half(most_bytes, ranks);

    (void)param;
    return half == 0 ? 0 : (size_t)ranks * sizeof(struct single_pair) + 2 * half;
}

/* The k-th of the other ranks. */
static inline int single_other(const struct mem *m, int k)
{
    return (mem_rank(m) + k) % mem_size(m);
}

/* ---- what two ranks tell each other ---- */

/* This rank has entered and lets another one use a part, unless that cannot be reached or `closed`. */
static inline void single_enter(struct mem *m, const struct coll *c, int rank, const struct single_part *part, bool closed)
{
    mem_flag *here = &single_pair(m, mem_rank(m), rank)->here;
    struct single_place *place = (struct single_place *)here->payload;

    mem_put(m, &place->address, closed ? 0 : mem_expose(m, part->at.view));
    mem_put(m, &place->offset_bytes, part->at.offset_bytes);
    mem_put(m, &place->bytes, part->bytes);
    mem_post(m, here, c->op); /* R1 */
}

static inline struct single_place single_meet(struct mem *m, const struct coll *c, int rank)
{
    mem_flag *here = &single_pair(m, rank, mem_rank(m))->here;
    const struct single_place *place = (const struct single_place *)here->payload;

    mem_await(m, here, c->op); /* A1 */
    return (struct single_place){ mem_get(m, &place->address), mem_get(m, &place->offset_bytes), mem_get(m, &place->bytes) };
}

static inline void single_tell(struct mem *m, const struct coll *c, int rank, uint64_t from, uint64_t end)
{
    mem_flag *told = &single_pair(m, mem_rank(m), rank)->told;
    struct single_lack *lack = (struct single_lack *)told->payload;

    mem_put(m, &lack->from, from);
    mem_put(m, &lack->end, end);
    mem_post(m, told, c->op); /* R2 */
}

/* What one rank has told another, either of them this one. */
static inline struct single_lack single_told(struct mem *m, int by, int to)
{
    const struct single_lack *lack = (const struct single_lack *)single_pair(m, by, to)->told.payload;

    return (struct single_lack){ mem_get(m, &lack->from), mem_get(m, &lack->end) };
}

static inline struct single_lack single_hear(struct mem *m, const struct coll *c, int rank)
{
    mem_await(m, &single_pair(m, rank, mem_rank(m))->told, c->op); /* A2 */
    return single_told(m, rank, mem_rank(m));
}

/* ---- the box ---- */

/* Fragment k of an operation. */
static inline uint64_t single_count(const struct coll *c, size_t k)
{
    return (c->op << 32) + k + 1;
}

static inline char *single_box(struct mem *m, const struct coll *c, int owner, size_t k)
{
    return (char *)single_pair(m, owner, mem_size(m)) + k % 2 * single_half(c->slot_bytes, mem_size(m));
}

static inline void single_put(struct mem *m, const struct coll *c, int rank, size_t k, const struct single_part *part, size_t done,
                              size_t bytes)
{
    char *box = single_box(m, c, mem_rank(m), k);

    if (k >= 2)
        mem_await(m, &single_pair(m, rank, mem_rank(m))->taken, single_count(c, k - 2)); /* A4 */
    for (size_t n = 0; n < bytes;)
        n += mem_in(m, box + n, part->at.view, part->at.offset_bytes + done + n, bytes - n);
    mem_post(m, &single_pair(m, mem_rank(m), rank)->full, single_count(c, k)); /* R3 */
}

static inline void single_take(struct mem *m, const struct coll *c, int rank, size_t k, const struct single_part *part, size_t done,
                               size_t bytes)
{
    mem_await(m, &single_pair(m, rank, mem_rank(m))->full, single_count(c, k)); /* A3 */
    mem_out(m, part->at.view, single_box(m, c, rank, k), part->at.offset_bytes + done, bytes);
    mem_post(m, &single_pair(m, mem_rank(m), rank)->taken, single_count(c, k)); /* R4 */
}

/* Sends one part to a rank while another one comes from it, either of which may be empty; both may be the same bytes. */
static inline void single_swap(struct mem *m, const struct coll *c, int rank, const struct single_part *out, const struct single_part *in)
{
    size_t half = single_half(c->slot_bytes, mem_size(m)), k = 0;

    for (size_t at = 0; at < out->bytes || at < in->bytes; at += half, k++) {
        if (at < out->bytes)
            single_put(m, c, rank, k, out, at, out->bytes - at < half ? out->bytes - at : half);
        if (at < in->bytes)
            single_take(m, c, rank, k, in, at, in->bytes - at < half ? in->bytes - at : half);
    }
    if (out->bytes != 0)
        mem_await(m, &single_pair(m, rank, mem_rank(m))->taken, single_count(c, (out->bytes - 1) / half)); /* A4 */
}

/* Those bytes of a part that are lacking. */
static inline struct single_part single_rest(const struct single_part *part, const struct single_lack *lack)
{
    struct mem_span at = part->at;

    at.offset_bytes += lack->from;
    return (struct single_part){ at, lack->end - lack->from };
}

#endif
