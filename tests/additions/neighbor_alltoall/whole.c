/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * neighbor_alltoall/whole.c - publishes a rank's blocks for all ranks, its own included, behind one
 * flag.
 *
 * Source    for tests of an addition only; alltoall/inline does the same with more care
 * Shape     p ranks, blocks of n bytes.  Each rank writes p n bytes, posts once, reads p n bytes.
 * Cost      T = l + (p - 2) g    ns; l one line transfer, g one more overlapped line
 * Accepts   p n + 8 bytes in half of the slot.
 *
 * Line                  written by   read by       value k means
 *   slot[r].set[k % 2]  r            all others    r's blocks for operation k are behind this flag
 *
 * Edges     R1 -> A1   a rank's copy in           happens before  the others' copies out
 *
 * Deadlock  A rank posts its set before it waits, and waits only for sets of the same operation.
 * Safety    Two sets alternate.  A rank that writes the set of operation k has seen all flags of
 *           the operation before, and each rank posted this flag after it had finished k - 2.
 */
#include "alg/block.h"

enum { SET_BYTES = 16 * HUD_LINE, HEAD = offsetof(mem_flag, payload) + sizeof(uint64_t) };

static size_t slot_bytes(const long *param, int ranks, size_t max_bytes)
{
    (void)param, (void)ranks;
    return max_bytes < 2 * SET_BYTES ? 0 : 2 * SET_BYTES;
}

static bool accepts(const struct coll *c, int ranks)
{
    return c->bytes <= (SET_BYTES - HEAD) / (size_t)ranks;
}

static mem_flag *set_of(struct mem *m, const struct coll *c, int rank)
{
    return (mem_flag *)((char *)mem_slot(m, rank) + c->op % 2 * SET_BYTES);
}

static void neighbor_alltoall_whole(struct mem *m, const struct coll *c)
{
    int me = mem_rank(m), ranks = mem_size(m);
    mem_flag *mine = set_of(m, c, me);

    mem_in_all(m, (char *)mine + HEAD, c->in, 0, (size_t)ranks * c->bytes);
    mem_put(m, mine->payload, c->bytes);
    mem_post(m, mine, c->op); /* R1 */
    for (int k = 0; k < ranks; k++) {
        int from = (me + k) % ranks;
        mem_flag *set = set_of(m, c, from);
        struct mem_span to = block_at(c->out, c->bytes, from);
        if (from != me)
            mem_await(m, set, c->op); /* A1 */
        size_t sent = mem_get(m, set->payload);
        block_out(m, &to, c->bytes, (char *)set + HEAD + (size_t)me * sent, sent);
    }
}

static const struct alg_family family = {
    .slot_bytes = slot_bytes,
};

ALG_DEFINE(neighbor_alltoall, whole) = {
    .coll = "neighbor_alltoall",
    .name = "whole",
    .doc = "a rank's blocks for all are behind one flag",
    .source = "for tests of an addition",
    .accepts = accepts,
    .family = &family,
    .run = neighbor_alltoall_whole,
};
