/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pace.c - long copies into shared memory: with ordinary or with non-temporal stores, as they have
 * taken less time.
 *
 * The lines of a window are in the caches of the ranks that have read them.  An ordinary store
 * fetches each from there first.  Where the reader shares a cache that is quick, and the data are
 * near when it reads them again.  Where it does not, non-temporal stores take a fraction of the
 * time, and the reader loses little: it would fetch the data from afar as well
 * (docs/evidence/E70.csv).  The topology does not always show which ranks share a cache, as in a
 * virtual machine.  So a rank takes the time of its own copies, and tries the other stores now and
 * then.
 *
 * Cost      two readings of the processor's clock for each copy, some 20 ns; 1 of PACE_TRY copies
 *           uses the slower stores
 */
#include "mem/mem.h"

#if defined(__x86_64__)
#include <x86intrin.h>

/* Copies between two trials; the first one comes sooner. */
enum { PACE_TRY = 128, PACE_FIRST = 8 };

/* How many times as quick non-temporal stores must be, as their reader then fetches from memory.
 * Measured on an AMD EPYC: 1 to 3.5 times where the reader shares a cache, 4 to 15 times where it
 * does not.
 */
enum { PACE_GAIN = 4 };

enum { ORDINARY, NON_TEMPORAL };

/* Ticks of a kilobyte, in 1/16. */
static uint64_t pace_of(uint64_t ticks, size_t bytes)
{
    return ticks * 16 * 1024 / bytes + 1;
}

/* About the least of late: a copy may be interrupted, or meet lines that are still on their way. */
static void learn(uint64_t *known, uint64_t seen)
{
    *known = *known == 0 || seen < *known ? seen : *known + (seen - *known) / 16;
}

void hud_mem_in_long(struct mem_pace *pace, void *dst, const void *src, size_t bytes)
{
    uint64_t copies = pace->copies++;
    bool tries = copies % PACE_TRY == PACE_FIRST;
    int way = pace->ticks[NON_TEMPORAL] != 0 &&
                      PACE_GAIN * pace->ticks[NON_TEMPORAL] < pace->ticks[ORDINARY]
                  ? NON_TEMPORAL
                  : ORDINARY;

    way = tries ? ORDINARY + NON_TEMPORAL - way : way;
    uint64_t begin = __rdtsc();
    if (way == NON_TEMPORAL)
        hud_mem_stream(dst, src, bytes);
    else
        memcpy(dst, src, bytes);
    learn(&pace->ticks[way], pace_of(__rdtsc() - begin, bytes));
}
#else
void hud_mem_in_long(struct mem_pace *pace, void *dst, const void *src, size_t bytes)
{
    (void)pace;
    memcpy(dst, src, bytes);
}
#endif
