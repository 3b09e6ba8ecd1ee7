/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ticks.h - the processor's time counter, which all cores of a machine share.  Reading it takes a
 * third of the time of clock_gettime.  The counter's rate is computed from two readings of both
 * clocks.  If the processor's counter may stop or change its rate, CLOCK_MONOTONIC is used instead.
 */
#ifndef HUD_TICKS_H
#define HUD_TICKS_H

#include "base/clock.h"

#include <stdbool.h>

#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>

/* Returns whether the counter's rate is constant in all states: CPUID 0x80000007, EDX bit 8. */
static inline bool ticks_are_steady(void)
{
    unsigned a, b, c, d = 0;

    return __get_cpuid(0x80000007, &a, &b, &c, &d) != 0 && (d >> 8 & 1) != 0;
}

static inline uint64_t ticks_raw(void)
{
    return __rdtsc();
}
#else
static inline bool ticks_are_steady(void)
{
    return false;
}

static inline uint64_t ticks_raw(void)
{
    return 0;
}
#endif

static inline uint64_t ticks_now(bool steady)
{
    return __builtin_expect(steady, 1) ? ticks_raw() : clock_ns();
}

#endif
