/* SPDX-License-Identifier: BSD-3-Clause */
/* learner_times.h - compares measured times (learner.c). */
#ifndef HUD_LEARNER_TIMES_H
#define HUD_LEARNER_TIMES_H

#include "core/plan/learner.h"

/* Keeps sums and products in 64 bits. */
static const uint64_t LONGEST_NS = UINT64_C(1) << 44;

static inline uint64_t min_ns(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static inline uint64_t lower_quartile(const uint64_t ns[], int count)
{
    uint64_t sorted[LEARNER_BATCH] = { 0 };

    for (int i = 0; i < count; i++) {
        int at = i;
        for (; at > 0 && sorted[at - 1] > ns[i]; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = ns[i];
    }
    return min_ns(sorted[count / 4], LONGEST_NS);
}

/* Returns whether two times differ by at most a quarter of the shorter one. */
static inline bool near(uint64_t a, uint64_t b)
{
    return a * 4 <= b * 5 && b * 4 <= a * 5;
}

#endif
