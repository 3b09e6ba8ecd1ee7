/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * single.h - what the single-copy algorithms share: each pair of ranks tells each other where its buffers lie, copies by the kernel, and tells what it lacks then.
 *
 * What cannot be reached (a packed view, a copy that the kernel refuses or cuts short, what an exchange or a reduce_scatter in place would write over) goes through a
 * box of two halves in the sender's slot, one receiver after the other, once all have copied what they could.  A fragment has the size of a half but for the last, so
 * that no notice of it is needed.  Two ranks count the fragments between them from the first on, both alike, whichever way they go; those of most operations are none.
 *
 * Line                        written by   read by   value k means
 *   slot[r].pair[i].here      r            i         r has entered operation k; with it, where what it lets i use is
 *   slot[r].pair[i].told      r            i         r uses nothing of i's in operation k any more; with it, what it lacks of what i sends
 *   slot[r].pair[i].full      r            i         fragment k of the two is in r's box
 *   slot[r].pair[i].taken     r            i         r has taken fragment k of the two out of i's box; beside it, for r itself, those of the operations before
 *
 * Edges     R1 -> A1   an entry                     happens before  the other's use of the view
 *           R2 -> A2   the use of another's view    happens before  its owner's return
 *           R3 -> A3   the copy into the box        happens before  the copy out
 *           R4 -> A4   the copy out of the box      happens before  the next copy into that half, and to another rank
 */
#ifndef HUD_ALG_SINGLE_H
#define HUD_ALG_SINGLE_H

#include "alg/alg.h"

enum { SINGLE_HALF = 64 << 10, SINGLE_LEAST = HUD_ELEMENT_MOST }; /* bytes of half a box, less where the lease holds less; at least */

struct single_pair {
    mem_flag here, told, full, taken;
};

/* What a rank lets another one read and write, addresses, 0: out of reach; and where in it the other's part lies.  The payload of here. */
struct single_place {
    uint64_t in, out, offset_bytes, bytes;
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
    return half < SINGLE_LEAST ? 0 : (size_t)ranks * sizeof(struct single_pair) + 2 * half;
}

/* The k-th of the other ranks. */
static inline int single_other(const struct mem *m, int k)
{
    return (mem_rank(m) + k) % mem_size(m);
}

/* ---- what two ranks tell each other ---- */

static inline void single_enter(struct mem *m, const struct coll *c, int rank, const struct single_place *place)
{
    mem_flag *here = &single_pair(m, mem_rank(m), rank)->here;
    struct single_place *to = (struct single_place *)here->payload;

    mem_put(m, &to->in, place->in);
    mem_put(m, &to->out, place->out);
    mem_put(m, &to->offset_bytes, place->offset_bytes);
    mem_put(m, &to->bytes, place->bytes);
    mem_post(m, here, c->op); /* R1 */
}

static inline struct single_place single_meet(struct mem *m, const struct coll *c, int rank)
{
    mem_flag *here = &single_pair(m, rank, mem_rank(m))->here;
    const struct single_place *from = (const struct single_place *)here->payload;

    mem_await(m, here, c->op); /* A1 */
    return (struct single_place){ mem_get(m, &from->in), mem_get(m, &from->out), mem_get(m, &from->offset_bytes),
                                  mem_get(m, &from->bytes) };
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

static inline char *single_box(struct mem *m, const struct coll *c, int owner, size_t k)
{
    return (char *)single_pair(m, owner, mem_size(m)) + k % 2 * single_half(c->slot_bytes, mem_size(m));
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

/* Copies into a box; packing may stop at any byte. */
static inline void single_fill(struct mem *m, char *box, const struct mem_span *from, size_t bytes)
{
    for (size_t n = 0; n < bytes;)
        n += mem_in(m, box + n, from->view, from->offset_bytes + n, bytes - n);
}

/* The bytes of a part that fragment k holds. */
static inline struct single_part single_fragment(const struct single_part *part, size_t half, size_t k)
{
    struct mem_span at = part->at;
    size_t rest = part->bytes - k * half;

    at.offset_bytes += k * half;
    return (struct single_part){ at, rest < half ? rest : half };
}

/* Sends one part to a rank while another one comes from it, either of which may be empty; both may be the same bytes. */
static inline void single_swap(struct mem *m, const struct coll *c, int rank, const struct single_part *out, const struct single_part *in)
{
    size_t half = single_half(c->slot_bytes, mem_size(m)), sends = (out->bytes + half - 1) / half, gets = (in->bytes + half - 1) / half;

    for (size_t k = 0; k < sends || k < gets; k++) {
        if (k < sends) {
            struct single_part part = single_fragment(out, half, k);
            if (k >= 2)
                single_await_taken(m, rank, k - 2);
            single_fill(m, single_box(m, c, mem_rank(m), k), &part.at, part.bytes);
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

/* Those bytes of a part that are lacking. */
static inline struct single_part single_rest(const struct single_part *part, const struct single_lack *lack)
{
    struct mem_span at = part->at;

    at.offset_bytes += lack->from;
    return (struct single_part){ at, lack->end - lack->from };
}

#endif
