/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * barrier/dissemination.c - in round i each rank waits for the rank 2^i before it, which has by
 * then heard from 2^i ranks.
 *
 * Source    Hensgen, Finkel, Manber: Two algorithms for barrier synchronization (1988); paper 03
 *           compares with it.  Mellor-Crummey, Scott (1991), Algorithm 9, needs two sets of flags
 *           and a sense; a line that counts operations needs neither.
 * Shape     p ranks, h = ceil(log2 p) rounds; p h lines posted, each with one writer and one
 *           reader, p of them at a time.
 * Cost      T = h l    ns; l one line transfer
 * Accepts   up to 2^12 ranks.
 *
 * Line               written by   read by             value k means
 *   slot[r].round[i] r            rank r + 2^i mod p  r, and the 2^i - 1 ranks before it, have
 *                                                     entered operation k
 *
 * Edges     R1 -> A1   the entries of 2^i ranks  happen before  the round i + 1 of the rank 2^i
 *                      after
 *
 * Deadlock  A rank posts its line of a round before it waits in that round.  So once all ranks have
 *           entered an operation and finished round i - 1, all post round i.
 * Safety    After round i a rank knows the entries of the 2^(i+1) - 1 ranks before it, so after h
 *           rounds those of all.  A value above k also shows that its writer has entered k.
 */
#include "alg/alg.h"

enum { ROUNDS = 12 };

struct slot {
    mem_flag round[ROUNDS];
};

static bool accepts(const struct coll *c, int ranks)
{
    (void)c;
    return ranks <= 1 << ROUNDS;
}

static void barrier_dissemination(struct mem *m, const struct coll *c)
{
    int me = mem_rank(m), ranks = mem_size(m);
    struct slot *mine = mem_slot(m, me);

    for (int i = 0; 1 << i < ranks; i++) {
        struct slot *before = mem_slot(m, (me - (1 << i) + ranks) % ranks);

        mem_post(m, &mine->round[i], c->op);    /* R1 */
        mem_await(m, &before->round[i], c->op); /* A1 */
    }
}

static const struct alg_family family = {
    .fixed_bytes = sizeof(struct slot),
};

ALG_DEFINE(barrier, dissemination) = {
    .coll = "barrier",
    .name = "dissemination",
    .doc = "in round k each rank signals the rank 2^k positions after it; log2(ranks) rounds",
    .source = "Hensgen, Finkel, Manber 1988",
    .accepts = accepts,
    .family = &family,
    .run = barrier_dissemination,
};
