/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ticks.c - the processor's clock, once all loads and stores before have been carried out: what is
 * still in its buffers is a part of a copy.  In a file of its own so that tests can put another
 * clock in its place.
 */
#include "mem/mem.h"

#if defined(__x86_64__)
#include <x86intrin.h>

uint64_t hud_lines_ticks(void)
{
    _mm_mfence();
    _mm_lfence();
    return __rdtsc();
}
#elif defined(__aarch64__)
uint64_t hud_lines_ticks(void)
{
    uint64_t ticks;

    __asm__ volatile("dsb sy\n\tisb\n\tmrs %0, cntvct_el0" : "=r"(ticks) : : "memory");
    return ticks;
}
#else
uint64_t hud_lines_ticks(void)
{
    return 0; /* all ways take the same time there: the first one stays */
}
#endif
