/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * barrier/tournament.c - in each round, half of the remaining ranks lose, in an order fixed
 * beforehand; winners release the ranks that they have beaten.
 *
 * Source    Hensgen, Finkel, Manber: Two algorithms for barrier synchronization (1988), with the
 *           wake-up tree of Mellor-Crummey, Scott (1991), Algorithm 10; paper 03 compares with it.
 *           This is combining.c with degree 2, except that the rank that counts as last is known,
 *           so no rank needs an atomic counter, and the loser need not arrive first.
 * Shape     p ranks, h = ceil(log2 p) rounds; 2 (p - 1) lines posted, each with one writer and one
 *           reader.  In round i rank r meets r + 2^i.
 * Cost      T = 2 h l + (h - 1) w    ns; l one line transfer, w a write to a line that another rank
 *           polls
 * Accepts   any number of ranks.
 *
 * Line             written by           read by              value k means
 *   slot[r].lost   r                    the rank r loses to  r, and all it has beaten, have
 *                                                            entered operation k
 *   slot[r].wake   the rank r loses to  r                    all have entered operation k
 *
 * Edges     R1 -> A1   the entries of the loser and of those it has beaten  happen before  the
 *                      winner's next round
 *           R2 -> A2   all entries, as the champion, rank 0, has seen them  happen before  the
 *                      exits
 *
 * Deadlock  A rank posts its loss before it waits to be woken.  A winner waits only for losses,
 *           which need no wake-up of the same operation.  The champion waits for no wake-up, and
 *           each rank wakes those that it has beaten after it was woken.
 * Safety    A line has one writer, and its values grow.  A rank posts for operation k + 1 after it
 *           was woken in k, so after all ranks have entered k.
 */
#include "alg/alg.h"

struct slot {
    mem_flag lost, wake;
};

static void barrier_tournament(struct mem *m, const struct coll *c)
{
    int me = mem_rank(m), round = 1;
    struct slot *mine = mem_slot(m, me);

    for (; round < mem_size(m) && me % (2 * round) == 0; round *= 2) {
        if (me + round < mem_size(m)) {
            struct slot *loser = mem_slot(m, me + round);
            mem_await(m, &loser->lost, c->op); /* A1 */
        }
    }
    if (me != 0) {
        mem_post(m, &mine->lost, c->op);  /* R1 */
        mem_await(m, &mine->wake, c->op); /* A2 */
    }
    while ((round /= 2) >= 1) {
        if (me + round < mem_size(m)) {
            struct slot *loser = mem_slot(m, me + round);
            mem_post(m, &loser->wake, c->op); /* R2 */
        }
    }
}

static const struct alg_family family = {
    .fixed_bytes = sizeof(struct slot),
};

ALG_DEFINE(barrier, tournament) = {
    .coll = "barrier",
    .name = "tournament",
    .doc = "in each round half of the remaining ranks signal a partner, which releases them at the "
           "end",
    .source = "Hensgen, Finkel, Manber 1988; Mellor-Crummey, Scott 1991, Algorithm 10",
    .family = &family,
    .run = barrier_tournament,
};
