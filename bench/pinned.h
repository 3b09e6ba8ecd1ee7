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

/* What lies there may be looked at: the compiler leaves out nothing that was written. */
static inline void pinned_keep(const void *at)
{
    __asm__ volatile("" : : "r"(at) : "memory");
}

/* Where so many threads wait for each other; zero at first. */
struct pinned_meeting {
    _Alignas(PINNED_LINE) _Atomic uint64_t arrived;
    int threads;
};

/* The same threads come every time. */
static inline void pinned_meet(struct pinned_meeting *m)
{
    uint64_t n = (uint64_t)m->threads, mine = atomic_fetch_add(&m->arrived, 1),
             until = (mine / n + 1) * n;

    while (atomic_load_explicit(&m->arrived, memory_order_acquire) < until)
        pinned_pause();
}

/* Runs body(arg, 0) .. body(arg, threads - 1), thread i on processor cpu[i], and waits for them.
 * 0, or -1: they cannot be had. */
int pinned_run(const int *cpu, int threads, void (*body)(void *arg, int thread), void *arg);

/* The middle of them; sorts. */
double pinned_median(double *values, int count);
/* The mean of their middle half, which is finer than a tick of the clock; sorts. */
double pinned_middle(double *values, int count);
/* What an eighth of them exceed, where a thread that is held up spoils a round for all; sorts. */
double pinned_max(double *values, int count);

/* These bytes are in no cache. */
void pinned_flush(const void *at, size_t bytes);

#endif
