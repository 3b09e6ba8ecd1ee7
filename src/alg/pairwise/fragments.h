/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fragments.h - fragments in transit between two ranks of a span (pairwise.h).
 *
 * Shape     A fragment goes through a buffer of the sender, as a message, and through a buffer of
 *           the receiver.  On one node, the receiver copies out of the sender's buffer instead.
 *           The fragments of all steps are one sequence, of which a rank has up to four in transit.
 * Returned  lines of a fragment, by the receiver on the same node (mem_out_as).
 *
 * Line        written by   read by           meaning of value k = call * 2^48 + step * 2^32 + i + 1
 *   sent      its owner    the other rank    fragment i of the step is in the owner's buffer
 *   got       its owner    the other rank    the owner has copied it out
 *
 * Edges     R1 -> A1   a fragment, to a rank of the node
 *           R2 -> A2   a buffer that was copied out, before the next fragment is written there
 *           R3 -> A3   a fragment, to a rank of another node
 * Deadlock  Fragments are ordered by step and number.  A rank begins both ends of a fragment before
 *           it waits for this or a later fragment, and finishes them in order.  So the first
 *           unfinished fragment has begun at both of its ends.
 * Safety    1 A fragment is sent from the buffer of its step and number, modulo the number of
 *           buffers, after A2 or net_sent of the buffer's old contents.  Receive buffers are used
 *           in turn.  A call ends after all buffers are free.
 *           2 In place, a block is read before the block that replaces it is written: both are of
 *           one step and of one size, and fragment i is read before fragment i is awaited.
 *           3 Values wrap.  Each call posts both lines at its end, so no value is older than a
 *           call.
 */
#ifndef HUD_ALG_FRAGMENTS_H
#define HUD_ALG_FRAGMENTS_H

#include "alg/pairwise/pairwise.h"

/* One fragment in each direction, of one step. */
struct fragment {
    int other, local; /* the other rank's number on this node, or -1 on another node */
    uint64_t value;   /* value of the flags */
    struct block going, coming;
    int from; /* number of the send buffer */
};

struct exchange {
    struct mem *m;
    const struct coll *c;
    const struct net_map *map;
    enum net_tag tag;
    int self;
    pairwise_block_fn *out, *in;
    uint64_t call;
    size_t begun, finished;                    /* numbers of fragments */
    struct fragment fragment[PAIRWISE_COMING]; /* fragments in transit, in turn */
};

static inline struct pairwise_lines *fragment_lines(const struct exchange *x, int rank)
{
    return mem_slot(x->m, rank);
}

/* Returns a buffer of a rank.  Receive buffers are behind the send buffers. */
static inline char *fragment_buffer(const struct exchange *x, int rank, int number)
{
    return (char *)mem_window(x->m, rank) + (size_t)number * (size_t)x->c->param[PAIRWISE_FRAGMENT];
}

static inline char *fragment_coming(const struct exchange *x, size_t fragment)
{
    return fragment_buffer(x, mem_rank(x->m), PAIRWISE_GOING + (int)(fragment % PAIRWISE_COMING));
}

static inline void fragment_post_sent(const struct exchange *x, uint64_t value)
{
    mem_post(x->m, &fragment_lines(x, mem_rank(x->m))->sent, value); /* R1 */
}

static inline void fragment_post_got(const struct exchange *x, uint64_t value)
{
    mem_post(x->m, &fragment_lines(x, mem_rank(x->m))->got, value); /* R2 */
}

/* Finishes the oldest fragment: copies out the received part, which no other rank reads, and waits
 * until the send buffer is free. */
static inline void fragment_finish(struct exchange *x)
{
    const struct fragment *p = &x->fragment[x->finished % PAIRWISE_COMING];
    const struct block *in = &p->coming;

    if (in->bytes != 0 && p->local < 0) {
        int handle = PAIRWISE_GOING + (int)(x->finished % PAIRWISE_COMING);
        net_arrived(x->m, x->c->net, handle); /* A3 */
        mem_out(x->m, in->at.view, fragment_coming(x, x->finished), in->at.offset_bytes, in->bytes);
    } else if (in->bytes != 0) {
        mem_await(x->m, &fragment_lines(x, p->local)->sent, p->value); /* A1 */
        mem_out_last(x->m, in->at.view, fragment_buffer(x, p->local, p->from), in->at.offset_bytes,
                     in->bytes);
        fragment_post_got(x, p->value);
    }
    if (p->going.bytes != 0 && p->local < 0)
        net_sent(x->m, x->c->net, p->from);
    else if (p->going.bytes != 0)
        mem_await(x->m, &fragment_lines(x, p->local)->got, p->value); /* A2 */
    x->finished++;
}

/* Reports whether a fragment in transit uses the buffer. */
static inline bool fragment_in_use(const struct exchange *x, int from)
{
    bool used = x->begun - x->finished == PAIRWISE_COMING;

    for (size_t i = x->finished; i < x->begun; i++)
        used = used || x->fragment[i % PAIRWISE_COMING].from == from;
    return used;
}

static inline void fragment_begin(struct exchange *x, const struct fragment *p)
{
    struct mem *m = x->m;
    const struct block *out = &p->going;
    char *from = fragment_buffer(x, mem_rank(m), p->from);

    while (fragment_in_use(x, p->from))
        fragment_finish(x);
    x->fragment[x->begun % PAIRWISE_COMING] = *p;
    if (p->coming.bytes != 0 && p->local < 0)
        net_receive(m, x->c->net, PAIRWISE_GOING + (int)(x->begun % PAIRWISE_COMING), p->other,
                    x->tag, fragment_coming(x, x->begun), p->coming.bytes);
    x->begun++;
    if (out->bytes == 0)
        return;
    mem_in_all(m, from, out->at.view, out->at.offset_bytes, out->bytes);
    if (p->local < 0)
        net_send(m, x->c->net, p->from, p->other, x->tag, from, out->bytes); /* R3 */
    else
        fragment_post_sent(x, p->value);
}

#endif
