/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * allgather.c - allgather/inline: a rank's block is behind one flag, its first bytes in the flag's
 * own line, and every other rank reads it there.
 *
 * Source    this project, after alltoall/inline
 * Shape     p ranks, blocks of n bytes.  Each rank writes n bytes, posts once, and reads n bytes of
 *           each other rank, in rotation: r + 1, r + 2, ...
 * Cost      T = l + (p - 2) g + p o     ns; l one line transfer, g one more overlapped line, o a
 *           copy of n bytes in the L1 cache
 *           traffic: p n bytes beyond in and out; its own block goes from in to out
 * Accepts   n + 8 bytes in half of the slot.
 *
 * Line                  written by   read by       value k, n means
 *   slot[r].set[k % 2]  r            all others    r's block for operation k, of n bytes, is behind
 *                                                  this flag
 *
 * Edges     R1 -> A1   a rank's copy in           happens before  the others' copies out
 *                      a rank's reads of k - 2    happen before   the others' next write to those
 *                                                                 sets
 *
 * Safety    Bytes that do not fit into this rank's place for a block are dropped, and the call
 *           reports the truncation.
 */
#include "alg/inline_exchange/inline_exchange.h"

static bool accepts(const struct coll *c, int ranks)
{
    (void)ranks;
    return c->bytes <= inline_room(c);
}

/* Copies out the block of a rank that has a different count. */
static __attribute__((noinline)) void take_unlike(struct mem *m, const struct coll *c, int from,
                                                  mem_flag *set, size_t bytes)
{
    const struct mem_span to = { .view = c->out, .offset_bytes = (size_t)from * c->bytes };

    block_out(m, &to, c->bytes, (char *)set + INLINE_HEAD, bytes);
}

static void allgather_inline(struct mem *m, const struct coll *c)
{
    int me = mem_rank(m), ranks = mem_size(m);
    size_t own = (size_t)me * c->bytes, from_at = coll_in_place(c) ? own : 0;
    mem_flag *mine = inline_set(m, inline_at(c), me);

    mem_in_all(m, (char *)mine + INLINE_HEAD, c->in, from_at, c->bytes);
    mem_post(m, mine, inline_value(c) + c->bytes); /* R1 */
    if (!coll_in_place(c))
        mem_move(m, &(struct mem_span){ NULL, c->out, own },
                 &(struct mem_span){ NULL, c->in, from_at }, c->bytes);
    for (int k = 1; k < ranks; k++) {
        int from = me + k < ranks ? me + k : me + k - ranks;
        mem_flag *set = inline_set(m, inline_at(c), from);
        size_t bytes = mem_await(m, set, inline_value(c)) - inline_value(c); /* A1 */
        if (__builtin_expect(bytes != c->bytes, 0)) {
            take_unlike(m, c, from, set, bytes);
            continue;
        }
        mem_out(m, c->out, (char *)set + INLINE_HEAD, (size_t)from * c->bytes, c->bytes);
    }
    inline_prefetch(m, c, c->bytes);
}

ALG_DEFINE(allgather, inline) = {
    .coll = "allgather",
    .name = "inline",
    .doc = "one flag publishes a rank's block; the first bytes are in the flag's cache line",
    .source = "this project, after alltoall/inline",
    .accepts = accepts,
    .family = &HUD_BACKEND(inline_exchange_family),
    .run = allgather_inline,
};

/* ---- allgatherv ---- */

static void allgatherv_inline(struct mem *m, const struct coll *c)
{
    int me = mem_rank(m), ranks = mem_size(m);
    const struct mem_span sent = { .view = c->in }, own = { .view = &c->out[me] };
    mem_flag *mine = inline_set(m, inline_at(c), me);

    mem_in_all(m, (char *)mine + INLINE_HEAD, c->in, 0, c->in->bytes);
    mem_post(m, mine, inline_value(c) + c->in->bytes); /* R1 */
    if (!block_same(&sent, &own))
        mem_move(m, &own, &sent, c->in->bytes);
    for (int k = 1; k < ranks; k++) {
        int from = me + k < ranks ? me + k : me + k - ranks;
        mem_flag *set = inline_set(m, inline_at(c), from);
        size_t bytes = mem_await(m, set, inline_value(c)) - inline_value(c); /* A1 */
        mem_out(m, &c->out[from], (char *)set + INLINE_HEAD, 0, bytes);
    }
    inline_prefetch(m, c, c->in->bytes);
}

ALG_DEFINE(allgatherv, inline) = {
    .coll = "allgatherv",
    .name = "inline",
    .doc = "one flag publishes a rank's block, of any size; the first bytes are in the flag's "
           "cache line",
    .source = "this project, after alltoall/inline",
    .accepts = accepts,
    .family = &HUD_BACKEND(inline_exchange_family),
    .run = allgatherv_inline,
};
