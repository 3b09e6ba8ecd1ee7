/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * buffers.h - the ring of buffers through which a broadcast reaches the ranks of a node (bcast.c).
 *
 * Source    Paper 01 (a queue of buffers).
 * Shape     One rank of each node, its *gate*, fills the ring in its window; the other ranks copy
 *           out of it.  The size of fragments may differ between calls, up to the size of a buffer.
 *           Before the first fragment, and sent with it, is a word with the bytes of the whole
 *           message.  A rank that expects another number leaves the call.
 *
 * Line       written by   read by           meaning of value k = call * 2^24 + i + 1
 *   ready    the gate     its node          fragment i of the call is in its buffer
 *   copied   its owner    the gate          the owner has copied out fragment i, and all before it
 *   count    its owner    its owner         (a word) fragments of all calls so far, the same on all
 *                                           ranks of the node: they go round the ring
 *   used[b]  its owner    its owner         (a word) `ready` of the last contents of its buffer b
 *
 * Edges     R1 -> A1   a fragment, to the ranks of the node
 *           R2 -> A2   a buffer that was copied out, before the next fragment is written there
 * Deadlock  A gate waits for the ranks of its node to copy out fragments that are ready, and these
 *           ranks wait for nothing else.
 * Safety    A buffer is written after A2 of all ranks of the node for its old contents, also if
 *           these are from an earlier call.
 */
#ifndef HUD_ALG_BUFFERS_H
#define HUD_ALG_BUFFERS_H

#include "alg/nodes/nodes.h"

enum { BUFFERS_FRAGMENT_BITS = 24 };

/* Returns the buffer of the fragment with this number among the fragments of all calls. */
static inline char *buffers_at(struct mem *m, const struct coll *c, int rank, uint64_t number)
{
    return (char *)mem_window(m, rank) + HUD_LINE +
           number % NODES_RING * nodes_ring_step((size_t)c->param[NODES_BUFFER]);
}

/* Returns the address of the word before the first fragment, whose buffer is at `at`. */
static inline uint64_t *buffers_total(char *at)
{
    return (uint64_t *)(void *)at - 1;
}

static inline void buffers_compare(struct mem *m, const struct coll *c, const uint64_t *total)
{
    uint64_t bytes = mem_get(m, total);

    if (__builtin_expect(bytes != c->bytes, 0))
        net_refuse(m, c->net, bytes, c->bytes);
}

/* Returns the bytes of the word in the message of fragment i. */
static inline size_t buffers_before(size_t i)
{
    return i == 0 ? sizeof(uint64_t) : 0;
}

static inline size_t buffers_fragment_bytes(const struct coll *c, size_t i)
{
    size_t fragment = (size_t)c->param[NODES_FRAGMENT], left = c->bytes - i * fragment;

    return left < fragment ? left : fragment;
}

static inline size_t buffers_fragments(const struct coll *c)
{
    size_t fragment = (size_t)c->param[NODES_FRAGMENT];

    return (c->bytes + fragment - 1) / fragment;
}

/* ---- the gate ---- */

/* Waits until the buffer of the fragment with this number is free, and records `value` as the
 * buffer's new value of `ready`. */
static inline void buffers_claim(struct mem *m, uint64_t number, uint64_t value)
{
    uint64_t *used = &nodes_lines_of(m, mem_rank(m))->used[number % NODES_RING],
             before = mem_get(m, used);

    for (int r = 0; before != 0 && r < mem_size(m); r++)
        if (r != mem_rank(m))
            mem_await(m, &nodes_lines_of(m, r)->copied, before); /* A2 */
    mem_put(m, used, value);
}

static inline void buffers_post_ready(struct mem *m, uint64_t value)
{
    if (mem_size(m) > 1)
        mem_post(m, &nodes_lines_of(m, mem_rank(m))->ready, value); /* R1 */
}

/* ---- the others ---- */

/* Copies out bytes of the message from the gate's window, once they are ready.  `total` is the
 * address of the length of the message, or NULL if the fragment does not come with the length. */
static inline void buffers_take_from(struct mem *m, const struct coll *c, int gate,
                                     const uint64_t *total, const void *from, size_t offset,
                                     size_t bytes, uint64_t value)
{
    mem_await(m, &nodes_lines_of(m, gate)->ready, value); /* A1 */
    if (total)
        buffers_compare(m, c, total);
    mem_out(m, c->out, from, offset, bytes);
    mem_post(m, &nodes_lines_of(m, mem_rank(m))->copied, value); /* R2 */
}

/* Copies out fragment i of this call, which has `number` among the fragments of all calls. */
static inline void buffers_take(struct mem *m, const struct coll *c, int gate, uint64_t number,
                                size_t i, uint64_t value)
{
    char *at = buffers_at(m, c, gate, number);

    buffers_take_from(m, c, gate, i == 0 ? buffers_total(at) : NULL, at,
                      i * (size_t)c->param[NODES_FRAGMENT], buffers_fragment_bytes(c, i), value);
}

#endif
