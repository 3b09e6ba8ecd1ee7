/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * offers.h - the data that a rank of an exchange (exchange.h) publishes for each other rank: where
 * its block for that rank is, or where the block from that rank goes; and a small block itself.
 *
 * Shape     An offer is a line and the lines that follow it.  A small block, up to some bytes less
 *           than `offers` / (p - 1), is in its sender's offer, its first bytes in the line: one
 *           line transfer, and no report.
 *
 * Line                        written by   read by   value k means
 *   slot[r].set[k % 2][i]     r            i         r's offer to i in operation k
 *
 * Edges     R5 -> A5   a copy into an offer       happens before  the copy out
 *                      an offer                   happens before  the other's use of the view
 *                      a rank's copies out of it  happen before   the next write to that set
 *
 * Safety
 *   1. There are two sets of offers, used in turn: a rank that sees another rank's offer of
 *      operation k knows that the other rank has finished operation k - 1.
 *   2. Calls of other sizes may use the other algorithm, `cma_read` or `cma_write`, with the same
 *      lines.  An offer tells its owner's algorithm.  Two ranks with different algorithms exchange
 *      nothing, and both report HUD_ERR_TRUNCATE.
 *   3. In place, no address is published, because a block would replace a block that still has to
 *      be sent.
 */
#ifndef HUD_ALG_OFFERS_H
#define HUD_ALG_OFFERS_H

#include "alg/single_copy/single_copy.h"

/*
 * The payload.  First an address (0: out of reach), and the offset from there of the block that the
 * other rank pulls, or of the place to which it pushes.  Then the bytes of the owner's block, times
 * two, plus one if the owner's algorithm is `cma_write`.  If the other rank pushes, the bytes of
 * the block that the owner expects follow.  Then follows the owner's block, if it is small.
 */
enum { OFFER_ADDRESS, OFFER_OFFSET, OFFER_BLOCK, OFFER_EXPECTED };

enum { OFFER_PREFETCH_MAX = 8192 }; /* bytes prefetched for the next exchange */

/* Parameters: bytes of a set of offers (fewer if the bounce buffer is smaller); whether the ranks
 * go from block to block together. */
enum offers_param { OFFERS, OFFERS_STEPS, OFFERS_PARAMS };
enum offers_steps { STEPS_FREE, STEPS_EVEN };

static inline size_t offers_set_bytes(const long *param, size_t window_bytes)
{
    size_t blocks = (size_t)param[OFFERS] * single_half(window_bytes) / SINGLE_HALF;

    return mem_lines(blocks) + HUD_LINE;
}

static inline size_t offers_lines_bytes(const long *param, int ranks, size_t window_bytes)
{
    return single_lines_bytes(param, ranks, window_bytes) +
           2 * offers_set_bytes(param, window_bytes);
}

static inline size_t offers_window_bytes(const long *param, int ranks, size_t max_bytes)
{
    size_t window = single_window_bytes(param, ranks, max_bytes);

    return offers_set_bytes(param, window) < (size_t)ranks * HUD_LINE ? 0 : window;
}

/* An exchange on one rank. */
struct exchange {
    struct mem *m;
    const struct coll *c;
    bool push; /* a block is copied by its sender, not by its receiver */
    size_t set_bytes;
    size_t offer_bytes; /* bytes of an offer, with its line */
};

static inline struct exchange exchange_begin(struct mem *m, const struct coll *c, bool push)
{
    int ranks = mem_size(m);
    size_t set = offers_set_bytes(c->param, c->place->window_bytes),
           offer = ranks == 1 ? 0 : set / (size_t)(ranks - 1) / HUD_LINE * HUD_LINE;

    return (struct exchange){ m, c, push, set, offer };
}

/* Returns an owner's set of offers for operation k. */
static inline char *offer_set(const struct exchange *x, int owner, uint64_t k)
{
    return (char *)single_pair(x->m, owner, mem_size(x->m)) + k % 2 * x->set_bytes;
}

/* Returns a rank's offer to another in an operation. */
static inline mem_flag *offer_of(const struct exchange *x, uint64_t op, int owner, int other)
{
    int place = other < owner ? other : other - 1;

    return (mem_flag *)(offer_set(x, owner, op) + (size_t)place * x->offer_bytes);
}

/* Returns the offset of a small block in its offer. */
static inline size_t offer_head_bytes(const struct exchange *x)
{
    return offsetof(mem_flag, payload[OFFER_EXPECTED + (x->push ? 1 : 0)]);
}

static inline bool offer_holds(const struct exchange *x, size_t bytes)
{
    return bytes <= x->offer_bytes - offer_head_bytes(x);
}

/* Returns the bytes of the owner's block. */
static inline size_t offer_block_bytes(const struct exchange *x, const mem_flag *offer)
{
    return mem_get(x->m, &offer->payload[OFFER_BLOCK]) >> 1;
}

/* Reports whether the owner of the offer uses the same algorithm as this rank. */
static inline bool offer_goes_along(const struct exchange *x, const mem_flag *offer)
{
    return (mem_get(x->m, &offer->payload[OFFER_BLOCK]) & 1) == x->push;
}

static inline void offer_publish(const struct exchange *x, int rank, const struct block *out,
                                 const struct block *in)
{
    struct mem *m = x->m;
    mem_flag *offer = offer_of(x, x->c->op, mem_rank(m), rank);
    const struct block *reached = x->push ? in : out;
    bool closed = offer_holds(x, reached->bytes) || block_same(&out->at, &in->at);

    mem_put(m, &offer->payload[OFFER_ADDRESS], closed ? 0 : mem_expose(m, reached->at.view));
    mem_put(m, &offer->payload[OFFER_OFFSET], reached->at.offset_bytes);
    mem_put(m, &offer->payload[OFFER_BLOCK], (uint64_t)out->bytes << 1 | x->push);
    if (x->push)
        mem_put(m, &offer->payload[OFFER_EXPECTED], in->bytes);
    if (offer_holds(x, out->bytes))
        mem_in_all(m, (char *)offer + offer_head_bytes(x), out->at.view, out->at.offset_bytes,
                   out->bytes);
    mem_post(m, offer, x->c->op); /* R5 */
}

static inline mem_flag *offer_await(const struct exchange *x, int rank)
{
    mem_flag *offer = offer_of(x, x->c->op, rank, mem_rank(x->m));

    mem_await(x->m, offer, x->c->op); /* A5 */
    return offer;
}

/* Prefetches the next offer to a rank, which has finished with the old one there, and the offer's
 * block if the next block is like this block. */
static inline void offer_prefetch(const struct exchange *x, int rank, const struct block *out)
{
    size_t block = offer_holds(x, out->bytes) ? out->bytes : 0;

    mem_prefetch_own(x->m, offer_of(x, x->c->op + 1, mem_rank(x->m), rank),
                     offer_head_bytes(x) +
                         (block < OFFER_PREFETCH_MAX ? block : OFFER_PREFETCH_MAX));
}

#endif
