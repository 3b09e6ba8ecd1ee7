/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ticks.c - reads the processor's clock after all earlier loads and stores have completed, because
 * stores that are still buffered are a part of the copy.  The function has a file of its own, so
 * that tests can replace it.
 */
#include "mem/mem.h"

enum { NOISE_NS = 3 }; /* difference that two times of the same event may always have */

#if defined(__x86_64__)
#include <x86intrin.h>

uint64_t hud_lines_ticks(void)
{
    _mm_mfence();
    _mm_lfence();
    return __rdtsc();
}

/* Assumes 3 ticks in a nanosecond, as the counter's rate is not known here. */
uint32_t hud_lines_noise(void)
{
    return 1 + 3 * NOISE_NS;
}
#elif defined(__aarch64__)
uint64_t hud_lines_ticks(void)
{
    uint64_t ticks;

    __asm__ volatile("dsb sy\n\tisb\n\tmrs %0, cntvct_el0" : "=r"(ticks) : : "memory");
    return ticks;
}

uint32_t hud_lines_noise(void)
{
    uint64_t hz;

    __asm__ volatile("mrs %0, cntfrq_el0" : "=r"(hz));
    return (uint32_t)(1 + hz * NOISE_NS / 1000000000);
}
#else
uint64_t hud_lines_ticks(void)
{
    return 0; /* no times are then measured, and lines are kept (core/team/policy.c) */
}

uint32_t hud_lines_noise(void)
{
    return 0;
}
#endif

uint64_t hud_lines_hop(_Atomic uint32_t *word)
{
    uint32_t same = atomic_load_explicit(word, memory_order_relaxed);
    uint64_t begin = hud_lines_ticks();

    atomic_store_explicit(word, same, memory_order_relaxed);
    return hud_lines_ticks() - begin;
}
