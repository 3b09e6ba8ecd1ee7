/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reduce/inline.c - contributions travel in flag lines, and the root reduces all of them.
 *
 * Source    this project; the ring and its reuse by halves as in bcast/inline, after paper 01's
 *           sets (q = 2).
 * Shape     p ranks, n <= 112 bytes.  All ranks but the root write a line and are done.  The root
 *           reads p - 1 lines, from rank 0 on.
 * Cost      T = l + (p - 2) g + p o     ns; l one line transfer, g one more overlapped line, o a
 *           copy or reduction of n bytes in the L1 cache
 *           traffic: one line written; at the root p - 1 read
 * Accepts   n <= 112.
 *
 * A rank that is not the root waits for no other rank.  So it has a ring of RING lines, used by
 * operation number, in two halves.  Before a half begins, it makes sure that the roots of the half
 * before last, which used the same lines, have finished it.  It knows them because it has recorded
 * the root of each operation.
 *
 * Line                        written by   read by       value k means
 *   slot[r].ring[k % RING]      r            the root      r's contribution to operation k is in
 *                                                          this line
 *   slot[r].done                r            all others    r has finished all operations up to k
 *   slot[r].root[k % RING]      r            r             (plain) the root of operation k
 *
 * Edges     R1 -> A1   a rank's contribution     happens before  the root's reading it
 *           R2 -> A2   a root's reads of a half  happen before   the others' next write to its
 *                      lines
 *
 * Deadlock  A root waits for lines of its operation.  The other ranks post them after they have
 *           waited, at most, until roots of earlier operations finish.
 * Safety    A line is written again after its only reader, the root recorded for its old operation,
 *           has posted that it has finished the half (A2).
 */
#include "alg/reduction.h"

enum { RING = 32, HALF = RING / 2 };

struct slot {
    mem_flag done;
    _Alignas(HUD_LINE) uint64_t root[RING];
    mem_flag ring[RING];
};

/* Waits, before the first write to a half, until its readers have finished with the last use. */
static void enter_half(struct mem *m, const struct slot *mine, uint64_t op)
{
    int last = mem_rank(m);

    for (uint64_t k = op - RING; k < op - HALF; k++) {
        int root = (int)mem_get(m, &mine->root[k % RING]);
        struct slot *reader = mem_slot(m, root);
        if (root != mem_rank(m) && root != last)
            mem_await(m, &reader->done, op - HALF - 1); /* A2 */
        last = root;
    }
}

static void gather(struct mem *m, const struct coll *c)
{
    const struct mem_span out = { .view = c->out };
    struct sources all;

    sources_begin(&all, m, c, &out, c->bytes);
    for (int r = 0; r < mem_size(m); r++) {
        mem_flag *ring = ((struct slot *)mem_slot(m, r))->ring, *line = &ring[c->op % RING];
        if (r != c->root) {
            contribution_expect(m, c, line, &ring[(c->op + 1) % RING]);
            mem_await(m, line, c->op); /* A1 */
        }
        sources_add(&all, contribution_of(m, c, r, contribution_at(line), 0));
    }
    sources_reduce(&all, &out, NULL);
}

static void reduce_inline(struct mem *m, const struct coll *c)
{
    struct slot *mine = mem_slot(m, mem_rank(m));
    mem_flag *line = &mine->ring[c->op % RING];
    bool root = mem_rank(m) == c->root;

    if (c->op % HALF == 0 && c->op >= RING)
        enter_half(m, mine, c->op);
    mem_put(m, &mine->root[c->op % RING], (uint64_t)c->root);
    if (!root || !contribution_stays(m))
        mem_in_all(m, contribution_at(line), c->in, 0, c->bytes);
    if (root)
        gather(m, c);
    else
        mem_post(m, line, c->op); /* R1 */
    if ((c->op + 1) % HALF == 0)
        mem_post(m, &mine->done, c->op); /* R2 */
    if (!root)
        contribution_prefetch(m, c, &mine->ring[(c->op + 1) % RING]);
}

static const struct alg_family family = {
    .fixed_bytes = sizeof(struct slot),
};

ALG_DEFINE(reduce, inline) = {
    .coll = "reduce",
    .name = "inline",
    .doc = "each contribution is in its flag's cache line; the root reduces all contributions",
    .source = "this project, after papers 01 (sets) and 05",
    .ordered = true,
    .accepts = contribution_fits,
    .family = &family,
    .run = reduce_inline,
};
