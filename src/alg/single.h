/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * single.h - single copy, the words of it: what each two ranks tell each other.  First where their
 * buffers lie; then they copy by the kernel; then what they still lack.  That goes through boxes
 * (single_box.h).
 *
 * Line                        written by   read by   value k means
 *   slot[r].pair[i].here      r            i         r has entered operation k; with it, where what
 *                                                    it lets i use is
 *   slot[r].pair[i].told      r            i         r uses nothing of i's in operation k any more;
 *                                                    with it, what did not come
 *   slot[r].pair[i].full and taken                   see single_box.h
 *
 * A rank that is no other's partner in an operation tells it nothing, and what it last told it may
 * be read until then: so it meets it before it tells it something new.
 *
 * Edges     R1 -> A1   an entry                     happens before  the other's use of the view
 *           R2 -> A2   the use of another's view    happens before  its owner's return
 */
#ifndef HUD_ALG_SINGLE_H
#define HUD_ALG_SINGLE_H

#include "alg/single_slot.h"

/* What a rank lets another one read and write, addresses, 0: out of reach; and where in it the
 * other's part lies.  The payload of here. */
struct single_place {
    uint64_t in, out, offset_bytes, bytes;
};

/* Bytes that did not come: the payload of told. */
struct single_lack {
    uint64_t from, end;
};

/* The k-th of the other ranks. */
static inline int single_other(const struct mem *m, int k)
{
    return (mem_rank(m) + k) % mem_size(m);
}

static inline void single_enter(struct mem *m, const struct coll *c, int rank,
                                const struct single_place *place)
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
    return (struct single_place){ mem_get(m, &from->in), mem_get(m, &from->out),
                                  mem_get(m, &from->offset_bytes), mem_get(m, &from->bytes) };
}

static inline void single_tell(struct mem *m, const struct coll *c, int rank, uint64_t from,
                               uint64_t end)
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
    const struct single_lack *lack =
        (const struct single_lack *)single_pair(m, by, to)->told.payload;

    return (struct single_lack){ mem_get(m, &lack->from), mem_get(m, &lack->end) };
}

static inline struct single_lack single_hear(struct mem *m, const struct coll *c, int rank)
{
    mem_await(m, &single_pair(m, rank, mem_rank(m))->told, c->op); /* A2 */
    return single_told(m, rank, mem_rank(m));
}

#endif
