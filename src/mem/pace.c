/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pace.c - long copies into shared memory: with ordinary or with non-temporal stores, whichever
 * have taken less time.
 *
 * The lines of a window are in the caches of the ranks that have read them.  An ordinary store
 * fetches each from there first.  Where the reader shares a cache that is quick, and the data are
 * near when it reads them again.  Where it does not, non-temporal stores take a fraction of the
 * time, and the reader loses little: it would fetch the data from afar as well
 * (docs/evidence/E70.csv).  The topology does not always show which ranks share a cache, as in a
 * virtual machine.  So a rank takes the time of its own copies, and tries the other stores now and
 * then.
 *
 * The clock is read when the stores have been issued.  What is still in the processor's buffers
 * then is not counted, so non-temporal stores of a few KB seem faster than they are.
 *
 * Cost      two readings of the processor's clock for each copy; 1 of PACE_TRY copies tries the
 *           other stores
 */
#include "mem/mem.h"

#if defined(__x86_64__)
#include <x86intrin.h>

static uint64_t clock_ticks(void)
{
    return __rdtsc();
}
#else
static uint64_t clock_ticks(void)
{
    return 0; /* both kinds of stores are the same there */
}
#endif

/* Copies between two trials; the first one comes sooner. */
enum { PACE_TRY = 128, PACE_FIRST = 8 };

/*
 * How many times faster non-temporal stores must be to be used, as their reader then fetches from
 * memory; and to be used on.  On an AMD EPYC they were more than 4 times as fast in 3 of 227 cases
 * where the reader shared a cache, and in 38 of 50 where it did not (docs/evidence/pace.csv).
 */
enum { PACE_GAIN = 4, PACE_KEEP = 3 };

enum { ORDINARY, NON_TEMPORAL };

/* Roughly the recent minimum: a copy may be interrupted, or meet lines that are on their way. */
static void learn(uint64_t *known, uint64_t seen)
{
    if (*known == 0 || seen < *known)
        *known = seen;
    else
        *known += ((seen > 2 * *known ? 2 * *known : seen) - *known) / 16;
}

void hud_pace_learn(struct mem_pace *pace, bool far, uint64_t ticks, size_t bytes)
{
    uint64_t gain = pace->far ? PACE_KEEP : PACE_GAIN;

    learn(&pace->ticks[far ? NON_TEMPORAL : ORDINARY], ticks * 16 * 1024 / bytes + 1);
    pace->far =
        pace->ticks[NON_TEMPORAL] != 0 && gain * pace->ticks[NON_TEMPORAL] < pace->ticks[ORDINARY];
}

void hud_mem_in_long(struct mem_pace *pace, void *dst, const void *src, size_t bytes)
{
    bool tries = pace->copies++ % PACE_TRY == PACE_FIRST, far = tries != pace->far;
    uint64_t begin = clock_ticks();

    if (far)
        hud_mem_stream(dst, src, bytes);
    else
        memcpy(dst, src, bytes);
    hud_pace_learn(pace, far, clock_ticks() - begin, bytes);
}
