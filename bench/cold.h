/* SPDX-License-Identifier: BSD-3-Clause */
/* cold.h - throws data out of all caches, for calls whose buffers are in memory only. */
#ifndef BENCH_COLD_H
#define BENCH_COLD_H

#include <stddef.h>

static inline void throw_out(const void *data, size_t bytes)
{
    for (size_t i = 0; i < bytes; i += 64) {
#if defined(__x86_64__)
        __builtin_ia32_clflush((const char *)data + i);
#elif defined(__aarch64__)
        __asm__ volatile("dc civac, %0" : : "r"((const char *)data + i) : "memory");
#endif
    }
#if defined(__x86_64__)
    __builtin_ia32_mfence();
#elif defined(__aarch64__)
    __asm__ volatile("dsb ish" : : : "memory");
#endif
}

#endif
