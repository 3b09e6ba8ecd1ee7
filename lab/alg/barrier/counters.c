/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * barrier/counters.c - each rank counts in a line of its own; rank 0 reads all lines, then releases
 * all ranks by one line.
 *
 * Source    paper 03's "sense-reversing-counter" (flat tree), with which paper 03 compares:
 *           central.c without the atomic counter.
 * Shape     p ranks; p lines posted.
 * Cost      T = l + (p - 2) g + l + (p - 2) g    ns; l one line transfer, g one more overlapped:
 *           rank 0's scan, then the readers of its line
 * Accepts   any number of ranks.
 *
 * Line              written by   read by   value k means
 *   slot[r].state   r > 0        rank 0    r has entered operation k
 *   slot[0].state   rank 0       others    all have entered operation k
 *
 * Edges     R1 -> A1   an entry  happens before  the end of rank 0's scan
 *           R2 -> A2   all entries, as rank 0 has seen them  happen before  the exits
 *
 * Deadlock  The other ranks post before they wait.  Rank 0 waits only for these posts.
 * Safety    A line has one writer, and its values grow.  A value above k shows that its writer has
 *           entered k.
 */
#include "alg/alg.h"

struct slot {
    mem_flag state;
};

static void barrier_counters(struct mem *m, const struct coll *c)
{
    struct slot *mine = mem_slot(m, mem_rank(m)), *master = mem_slot(m, 0);

    if (mem_rank(m) != 0) {
        mem_post(m, &mine->state, c->op);    /* R1 */
        mem_await(m, &master->state, c->op); /* A2 */
        return;
    }
    for (int r = 1; r < mem_size(m); r++) {
        struct slot *other = mem_slot(m, r);
        mem_await(m, &other->state, c->op); /* A1 */
    }
    mem_post(m, &master->state, c->op); /* R2 */
}

static const struct alg_family family = {
    .fixed_bytes = sizeof(struct slot),
};

ALG_DEFINE(barrier, counters) = {
    .coll = "barrier",
    .name = "counters",
    .doc = "each rank counts in its own cache line; rank 0 polls all lines and releases all ranks "
           "by one line",
    .source = "paper 03, sense-reversing-counter",
    .family = &family,
    .run = barrier_counters,
};
