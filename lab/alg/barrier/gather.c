/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * barrier/gather.c - flat gather, flat release: rank 0 waits for a line from each rank, and
 * releases each rank by another line.
 *
 * Source    paper 03's "sense-reversing-gr" (flat tree in two phases), with which paper 03
 *           compares; the paper gives no code.  Here, both phases use lines between rank 0 and one
 *           other rank.  counters.c differs in the second phase: there, all ranks poll one line,
 *           which rank 0 writes once, and readers queue for it.  Here, rank 0 writes p - 1 lines,
 *           and no rank waits for another reader.
 * Shape     p ranks; 2 (p - 1) lines posted, each with one writer and one reader.
 * Cost      T = l + (p - 2) g + (p - 2) w + l    ns; l one line transfer, g one more overlapped, w
 *           a write to a line that another rank polls
 * Accepts   any number of ranks.
 *
 * Line                written by   read by   value k means
 *   slot[r].arrived   r            rank 0    r has entered operation k
 *   slot[r].leave     rank 0       r         all have entered operation k
 *
 * Edges     R1 -> A1   an entry  happens before  the end of rank 0's scan
 *           R2 -> A2   all entries, as rank 0 has seen them  happen before  the exits
 *
 * Deadlock  The other ranks post before they wait.  Rank 0 waits only for these posts.
 * Safety    A line has one writer, and its values grow.  A value above k shows that its writer has
 *           entered, or rank 0 has released, operation k.
 */
#include "alg/alg.h"

struct slot {
    mem_flag arrived, leave;
};

static void barrier_gather(struct mem *m, const struct coll *c)
{
    struct slot *mine = mem_slot(m, mem_rank(m));

    if (mem_rank(m) != 0) {
        mem_post(m, &mine->arrived, c->op); /* R1 */
        mem_await(m, &mine->leave, c->op);  /* A2 */
        return;
    }
    for (int r = 1; r < mem_size(m); r++) {
        struct slot *other = mem_slot(m, r);
        mem_await(m, &other->arrived, c->op); /* A1 */
    }
    for (int r = 1; r < mem_size(m); r++) {
        struct slot *other = mem_slot(m, r);
        mem_post(m, &other->leave, c->op); /* R2 */
    }
}

static const struct alg_family family = {
    .fixed_bytes = sizeof(struct slot),
};

ALG_DEFINE(barrier, gather) = {
    .coll = "barrier",
    .name = "gather",
    .doc = "each rank signals rank 0 by one cache line, and rank 0 releases each rank by another",
    .source = "paper 03, sense-reversing-gr",
    .family = &family,
    .run = barrier_gather,
};
