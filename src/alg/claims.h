/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * claims.h - a block that two ranks copy at once by the kernel: its owner pushes parts from the
 * beginning on, and the other rank pulls parts from the end; or the other way round.
 *
 * Source    this project
 * Shape     The rank that claims a part first, by a counter, copies it.  So both are busy to the
 *           end, though one may be late, and a push takes 1 to 3 times as long as a pull
 *           (docs/evidence/E67.csv).
 * Cost      T = n / (1 / t + 1 / u) + a log n     ns, about; t per byte that is pulled, u pushed, a
 *           for a claim: up to a line transfer, and a call of the kernel
 *
 * Line         written by  read by    value means
 *   a counter  both ranks  both       parts claimed since the lease began, and some that were not
 *                                     there any more
 *
 * The algorithm's own flags order the rest: both know where the block and its place are, and each
 * reports to the other what it has copied.  After both reports nobody claims any more, and the
 * counter has the value at which the next block begins.
 *
 * Safety    Claims of parts beyond their number are void.  So both ranks together have as many as
 *           there are parts, and do not meet.
 */
#ifndef HUD_ALG_CLAIMS_H
#define HUD_ALG_CLAIMS_H

#include "alg/direct.h"

/* Bytes of a part, at least; parts, at most; what the kernel maps at a time. */
enum { CLAIMS_PART = 16 << 10, CLAIMS_PARTS = 64, CLAIMS_PAGE = 4096 };

/* A rank claims that share of what is left at once: few calls of the kernel, and short ones at the
 * end. */
enum { CLAIMS_PULL = 3, CLAIMS_PUSH = 6 };

/* One rank's view of it. */
struct claims {
    struct mem *m;
    mem_flag *counter;
    uint64_t before; /* its value when no part of this block was claimed */
    size_t bytes;    /* of the block */
    size_t most;     /* that this rank copies */
    bool from_end;   /* this rank's parts are at the end */
    size_t at_once;  /* CLAIMS_PULL or CLAIMS_PUSH */
    size_t claimed;  /* parts, by both, as far as this rank knows */
    size_t done;     /* bytes that this rank has copied */
};

/* The value at which the next block begins; for the counter's owner, while nobody claims. */
static inline uint64_t claims_before(struct mem *m, mem_flag *counter)
{
    return mem_peek(m, counter);
}

/* Bytes of each block that the root copies, at most, so that it comes to the other ranks' in time.
 */
static inline size_t claims_of_root(size_t bytes, int ranks)
{
    return ranks == 2 ? bytes : bytes / (size_t)ranks;
}

static inline size_t claims_part(const struct claims *c)
{
    size_t part = (c->bytes / CLAIMS_PARTS + CLAIMS_PAGE - 1) / CLAIMS_PAGE * CLAIMS_PAGE;

    return part < CLAIMS_PART ? CLAIMS_PART : part;
}

/* Claims parts, and returns how many; 0: all are claimed. */
static inline size_t claims_take(struct claims *c, size_t parts)
{
    size_t wanted = (parts - c->claimed + c->at_once - 1) / c->at_once,
           before = mem_add(c->m, c->counter, wanted) - wanted - c->before,
           left = before < parts ? parts - before : 0, taken = left < wanted ? left : wanted;

    c->claimed = before + taken < parts ? before + taken : parts;
    return taken;
}

/* The bytes [from, end) that this rank copies next; false: it copies no more. */
static inline bool claims_next(struct claims *c, size_t *from, size_t *end)
{
    size_t part = claims_part(c), parts = (c->bytes + part - 1) / part, taken;

    if (c->done >= c->most || c->claimed == parts || (taken = claims_take(c, parts)) == 0)
        return false;
    if (c->from_end) {
        *end = c->bytes - c->done;
        *from = ((*end + part - 1) / part - taken) * part;
    } else {
        *from = c->done;
        *end = c->bytes - *from < taken * part ? c->bytes : *from + taken * part;
    }
    return true;
}

/* Pushes what it can claim of a block into its place in another rank's memory. */
static inline void claims_push(struct claims *c, int rank, const struct direct *place,
                               const struct block *block)
{
    size_t from, end;

    c->at_once = CLAIMS_PUSH;
    while (claims_next(c, &from, &end)) {
        const struct direct to = direct_cut(place, from, end);
        const struct block part = block_cut(block, from, end);
        if (direct_push(c->m, rank, &to, &part) != end - from)
            return;
        c->done += end - from;
    }
}

/* Pulls what it can claim of a block in another rank's memory into its place. */
static inline void claims_pull(struct claims *c, int rank, const struct direct *block,
                               const struct block *place)
{
    size_t from, end;

    c->at_once = CLAIMS_PULL;
    while (claims_next(c, &from, &end)) {
        const struct direct part = direct_cut(block, from, end);
        const struct block to = block_cut(place, from, end);
        if (direct_pull(c->m, rank, &part, &to) != end - from)
            return;
        c->done += end - from;
    }
}

#endif
