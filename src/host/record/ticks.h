/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ticks.h - the processor's counter of time, which all cores of a machine share.  It costs a third
 * of clock_gettime.  Its rate is found from two looks at both.  Where the processor's counter may
 * stop or change its rate, CLOCK_MONOTONIC serves.
 */
#ifndef HUD_TICKS_H
#define HUD_TICKS_H

#include "core/clock.h"

#include <stdbool.h>

#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>

/* CPUID 0x80000007, EDX bit 8: the counter's rate is constant in all states. */
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
