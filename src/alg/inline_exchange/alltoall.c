/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * alltoall.c - alltoall/inline: a rank's blocks for all others are behind one flag, one after the
 * other, beginning in the flag's own line.
 *
 * Source    paper 02, "Alltoall", small blocks, and this project.  There are no copies through
 *           third ranks (Bruck), which shared memory does not need.
 * Shape     p ranks, blocks of n bytes.  Each rank writes (p - 1) n bytes, posts once, and reads n
 *           bytes of each other rank, in rotation: r + 1, r + 2, ...
 * Cost      T = l + (p - 2) g + 2 (p - 1) o     ns; l one line transfer, g one more overlapped
 *           line, o a copy of n bytes in the L1 cache
 *           traffic: 2 (p - 1) n bytes beyond in and out; its own block goes from in to out
 * Accepts   (p - 1) n + 8 bytes in half of the slot.
 *
 * Line                  written by   read by       value k, n means
 *   slot[r].set[k % 2]  r            all others    r's blocks for operation k, of n bytes each, are
 *                                                  behind this flag, in the order of their ranks,
 *                                                  without r
 *
 * Edges     R1 -> A1   a rank's copies in         happen before  the others' copies out
 *                      a rank's reads of k - 2    happen before  the others' next write to those
 *                                                                sets
 *
 * Safety    A block of a rank with a different count is read where that rank has put it.  Bytes
 *           that do not fit into this rank's block are dropped, and the call reports the
 *           truncation.
 */
#include "alg/inline_exchange/inline_exchange.h"

enum param { BUDGET };
enum { BUDGET_MAX = 1 << INLINE_BYTES };

static const struct alg_param params[] = {
    [BUDGET] = { "budget", "B", "bytes of both sets of blocks together", 2 * HUD_LINE, BUDGET_MAX,
                 64 << 10, NULL, .tune = "16K,512K" },
    { .name = NULL },
};

static size_t slot_bytes(const long *param, int ranks, size_t max_bytes)
{
    size_t wanted = (size_t)param[BUDGET];

    (void)ranks;
    return 2 * inline_set_bytes(wanted < max_bytes ? wanted : max_bytes);
}

const struct alg_family HUD_BACKEND(inline_exchange_family) = {
    .params = params,
    .slot_bytes = slot_bytes,
};

static bool accepts(const struct coll *c, int ranks)
{
    return c->bytes <= inline_room(c) / (size_t)(ranks > 1 ? ranks - 1 : 1);
}

/* Returns where a rank's block for another is, behind its flag, for blocks of `bytes` bytes. */
static char *block_in(mem_flag *set, size_t bytes, int from, int to)
{
    return (char *)set + INLINE_HEAD + (size_t)(to > from ? to - 1 : to) * bytes;
}

/* Copies blocks [first, end) of `in`. */
static void copy_in(struct mem *m, const struct coll *c, char *to, int first, int end)
{
    size_t at = (size_t)first * c->bytes, bytes = (size_t)(end - first) * c->bytes;

    mem_in_all(m, to, c->in, at, bytes);
}

static void own(struct mem *m, const struct coll *c)
{
    size_t at = (size_t)mem_rank(m) * c->bytes;

    if (!coll_in_place(c))
        mem_move(m, &(struct mem_span){ NULL, c->out, at }, &(struct mem_span){ NULL, c->in, at },
                 c->bytes);
}

/* Copies out the block of a rank whose blocks have a different size. */
static __attribute__((noinline)) void take_unlike(struct mem *m, const struct coll *c, int from,
                                                  mem_flag *set, size_t bytes)
{
    const struct mem_span to = { .view = c->out, .offset_bytes = (size_t)from * c->bytes };

    block_out(m, &to, c->bytes, block_in(set, bytes, from, mem_rank(m)), bytes);
}

static void alltoall_inline(struct mem *m, const struct coll *c)
{
    int me = mem_rank(m), ranks = mem_size(m);
    size_t at = inline_at(c);
    mem_flag *mine = inline_set(m, at, me);

    copy_in(m, c, block_in(mine, c->bytes, me, 0), 0, me);
    copy_in(m, c, block_in(mine, c->bytes, me, me + 1), me + 1, ranks);
    mem_post(m, mine, inline_value(c) + c->bytes); /* R1 */
    own(m, c);
    for (int k = 1; k < ranks; k++) {
        int from = me + k < ranks ? me + k : me + k - ranks;
        mem_flag *set = inline_set(m, at, from);
        size_t bytes = mem_await(m, set, inline_value(c)) - inline_value(c); /* A1 */
        if (__builtin_expect(bytes == c->bytes, 1))
            mem_out(m, c->out, block_in(set, c->bytes, from, me), (size_t)from * c->bytes,
                    c->bytes);
        else
            take_unlike(m, c, from, set, bytes);
    }
    inline_prefetch(m, c, (size_t)(ranks - 1) * c->bytes);
}

ALG_DEFINE(alltoall, inline) = {
    .coll = "alltoall",
    .name = "inline",
    .doc = "one flag publishes all blocks of a rank; the first block is in the flag's cache line",
    .source = "paper 02, Alltoall, and this project",
    .accepts = accepts,
    .family = &HUD_BACKEND(inline_exchange_family),
    .run = alltoall_inline,
};
