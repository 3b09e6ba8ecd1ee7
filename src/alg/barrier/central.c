/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * barrier/central.c - all ranks count in one counter; the last rank to arrive releases all others.
 *
 * Source    Mellor-Crummey, Scott: Algorithms for scalable synchronization on shared-memory
 *           multiprocessors (1991), Algorithm 7; paper 03's "sense-reversing", with which paper 03
 *           compares.  Here, the number of the operation replaces the sense that flips, and the
 *           counter counts forever (modulo 2^64) instead of being reset.
 * Shape     p ranks add to one line.  The last rank posts another line, which p - 1 ranks poll.
 *           Both lines are at rank 0, like the paper's global counters.
 * Cost      T = p a + l + (p - 2) g    ns; a an atomic addition to a line that another rank had
 *           last, l one line transfer, g one more overlapped
 * Accepts   any number of ranks.
 *
 * Line             written by        read by      value k means
 *   slot[0].count  all, by addition  its adders   k additions: p of them an operation
 *   slot[0].sense  the last to come  the others   all have entered operation k
 *
 * Edges     R1 -> A1   an entry  happens before  the last arrival, which reads p k
 *           R2 -> A2   all entries, as the last has seen them  happen before  the exits; and a post
 *                      of `sense` before the next operation's
 *
 * Deadlock  A rank adds before it waits.  The last of the p additions of an operation makes the
 *           counter p k, and the rank that added it posts without waiting.
 * Safety    A rank adds for operation k + 1 after it has left k, so after all p additions of k.  So
 *           the counter reaches p k only by the last addition of k.
 */
#include "alg/alg.h"

struct slot {
    mem_flag count, sense;
};

static void barrier_central(struct mem *m, const struct coll *c)
{
    struct slot *home = mem_slot(m, 0);
    uint64_t all = c->op * (uint64_t)mem_size(m);

    if (mem_add(m, &home->count, 1) == all) /* R1, A1 */
        mem_post(m, &home->sense, c->op);   /* R2 */
    else
        mem_await(m, &home->sense, c->op); /* A2 */
}

static const struct alg_family family = {
    .fixed_bytes = sizeof(struct slot),
};

ALG_DEFINE(barrier, central) = {
    .coll = "barrier",
    .name = "central",
    .doc = "all ranks increment one counter; the last rank to arrive releases the others",
    .source = "Mellor-Crummey, Scott 1991, Algorithm 7",
    .family = &family,
    .run = barrier_central,
};
