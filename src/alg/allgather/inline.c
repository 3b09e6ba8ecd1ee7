/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * allgather/inline.c - a rank's block lies behind one flag, its first bytes in the flag's own line,
 * and every other rank reads it there.
 *
 * Source    this project, after alltoall/inline
 * Shape     p ranks, blocks of n bytes.  Each rank writes n bytes, posts once, and reads n bytes of
 *           each other rank, in rotation: r + 1, r + 2, ...
 * Cost      T = l + (p - 2) g + p o     ns; l one line transfer, g one more overlapped line, o a
 *           copy of n bytes in the nearest cache
 *           traffic: p n bytes beyond in and out; its own block goes from in to out
 * Accepts   n + 8 bytes in half of the slot.
 *
 * One slot serves this and alltoall/inline (a family), whose calls follow each other in any order:
 * parameters, sets and flags are the same, and in both every rank awaits every other.
 *
 * Two sets in turn: the rank that writes the set of operation k has seen all flags of k - 1, whose
 * owners had left operation k - 2.
 *
 * Line                  written by   read by       value k means
 *   slot[r].set[k % 2]  r            all others    r's block for operation k is behind this flag
 *
 * Edges     R1 -> A1   a rank's copy in           happens before  the others' copies out
 *                      a rank's reads of k - 2    happen before   the others' next write to those
 *                                                                 sets
 */
#include "alg/alg.h"

enum param { BUDGET };

static const struct alg_param params[] = {
    [BUDGET] = { "budget", "B", "both sets of blocks", 2 * HUD_LINE, 1 << 24, 64 << 10, NULL,
                 .tune = "16K" },
    { .name = NULL },
};

enum {
    HEAD = offsetof(mem_flag, payload),
    PREFETCH_MAX = 8192 /* bytes, for the next operation */
};

static size_t set_bytes(size_t slot_bytes)
{
    return slot_bytes / 2 / HUD_LINE * HUD_LINE;
}

static size_t slot_bytes(const long *param, int ranks, size_t max_bytes)
{
    size_t wanted = (size_t)param[BUDGET];

    (void)ranks;
    return 2 * set_bytes(wanted < max_bytes ? wanted : max_bytes);
}

static bool accepts(const struct coll *c, int ranks)
{
    (void)ranks;
    return c->bytes <= set_bytes(c->place->slot_bytes) - HEAD;
}

static mem_flag *set_of(struct mem *m, const struct coll *c, uint64_t op, int rank)
{
    return (mem_flag *)((char *)mem_slot(m, rank) + op % 2 * set_bytes(c->place->slot_bytes));
}

static void allgather_inline(struct mem *m, const struct coll *c)
{
    int me = mem_rank(m), ranks = mem_size(m);
    size_t own = (size_t)me * c->bytes, from_at = coll_in_place(c) ? own : 0,
           behind = HEAD + c->bytes;
    mem_flag *mine = set_of(m, c, c->op, me);

    mem_in_all(m, (char *)mine + HEAD, c->in, from_at, c->bytes);
    mem_post(m, mine, c->op); /* R1 */
    if (!coll_in_place(c))
        mem_move(m, &(struct mem_span){ NULL, c->out, own },
                 &(struct mem_span){ NULL, c->in, from_at }, c->bytes);
    for (int k = 1; k < ranks; k++) {
        int from = me + k < ranks ? me + k : me + k - ranks;
        mem_flag *set = set_of(m, c, c->op, from);
        mem_await(m, set, c->op); /* A1 */
        mem_out(m, c->out, (char *)set + HEAD, (size_t)from * c->bytes, c->bytes);
    }
    mem_prefetch_own(m, set_of(m, c, c->op + 1, me), behind < PREFETCH_MAX ? behind : PREFETCH_MAX);
}

ALG_DEFINE(allgather, inline) = {
    .coll = "allgather",
    .name = "inline",
    .doc = "a rank's block lies behind one flag, its first bytes in the line",
    .source = "this project, after alltoall/inline",
    .params = params,
    .family = "inline exchange",
    .accepts = accepts,
    .slot_bytes = slot_bytes,
    .run = allgather_inline,
};
