/* SPDX-License-Identifier: BSD-3-Clause */
/* learner_sweep.h - the candidates that are left in a trial, and the order of their turns
 * (learner.h).  Included only by learner.c. */
#ifndef HUD_LEARNER_SWEEP_H
#define HUD_LEARNER_SWEEP_H

#include "core/plan/learner_times.h"

static inline bool is_left(const struct learner *l, int candidate)
{
    return (l->left >> candidate & 1) != 0;
}

static inline void drop(struct learner *l, int candidate)
{
    if (candidate != l->present && !(l->unlimited && candidate == l->mpi))
        l->left = (uint8_t)(l->left & ~(1 << candidate));
}

/* Drops candidates that take more than percent of the best time. */
static inline void drop_slower(struct learner *l, uint64_t percent)
{
    uint64_t best = UINT64_MAX;

    for (int c = 0; c < LEARNER_CANDIDATES; c++)
        best = is_left(l, c) ? min_ns(best, measured(l, c)) : best;
    for (int c = 0; c < LEARNER_CANDIDATES; c++)
        if (measured(l, c) * 100 > best * percent)
            drop(l, c);
}

/* Orders the turns of the next sweep: the first one by expected times, others at random. */
static inline void order_sweep(struct learner *l)
{
    uint64_t key[LEARNER_CANDIDATES];

    l->turns = l->turn = 0;
    for (int c = 0; c < LEARNER_CANDIDATES; c++) {
        if (!is_left(l, c))
            continue;
        l->seed = l->seed * 1664525 + 1013904223; /* Numerical Recipes' generator */
        uint64_t mine = l->sweep == 0 ? expected(l, c) : l->seed >> 16;
        int at = l->turns++;
        for (; at > 0 && key[at - 1] > mine; at--) {
            key[at] = key[at - 1];
            l->order[at] = l->order[at - 1];
        }
        key[at] = mine;
        l->order[at] = (uint8_t)c;
    }
}

static inline void forget_samples(struct learner *l, int candidate)
{
    l->count[candidate] = 0;
    l->low_ns[candidate][0] = l->low_ns[candidate][1] = LONGEST_NS;
}

#endif
