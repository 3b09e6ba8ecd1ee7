/* SPDX-License-Identifier: BSD-3-Clause */
/* pinned.h - threads of one process, each bound to a different processor, with a barrier and
 * medians. */
#ifndef BENCH_PINNED_H
#define BENCH_PINNED_H

#include <stdatomic.h>
#include <stdint.h>
#include <time.h>

enum { PINNED_ROUNDS = 31, PINNED_LINE = 128 };

static inline double pinned_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static inline void pinned_pause(void)
{
#if defined __x86_64__
    __builtin_ia32_pause();
#elif defined __aarch64__
    __asm__ volatile("yield");
#endif
}

/* Makes the compiler assume a read of this memory, so that no store to the memory is optimized
 * away. */
static inline void pinned_keep(const void *at)
{
    __asm__ volatile("" : : "r"(at) : "memory");
}

/* A barrier of `threads` threads; zero at first. */
struct pinned_meeting {
    _Alignas(PINNED_LINE) _Atomic uint64_t arrived;
    int threads;
};

/* Waits for the other threads of the barrier, which must always be the same. */
static inline void pinned_meet(struct pinned_meeting *m)
{
    uint64_t n = (uint64_t)m->threads, mine = atomic_fetch_add(&m->arrived, 1),
             until = (mine / n + 1) * n;

    while (atomic_load_explicit(&m->arrived, memory_order_acquire) < until)
        pinned_pause();
}

/* Runs body(arg, 0) .. body(arg, threads - 1), thread i on processor cpu[i], and waits for them.
 * Returns 0, or -1 if the threads cannot be created. */
int pinned_run(const int *cpu, int threads, void (*body)(void *arg, int thread), void *arg);

/* Returns the median of the values; sorts them. */
double pinned_median(double *values, int count);
/* Returns the mean of the middle half of the values, which is finer than a tick of the clock; sorts
 * them. */
double pinned_middle(double *values, int count);
/* Returns the value that an eighth of the values exceed, for measurements in which a delayed thread
 * spoils a round for all; sorts them. */
double pinned_max(double *values, int count);

/* Removes these bytes from all caches. */
void pinned_flush(const void *at, size_t bytes);

#endif
