/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * line.h - one-way transfer time of a cache line between the cores of two processes.  It is
 * measured with every figure: on virtual machines, whose processors move, a figure is meaningless
 * without it.
 *
 * Two processes, each pinned to a processor for the measurement, answer each other through a shared
 * line.  The result, in ns, is half of the best average round trip of LINE_BATCHES batches.  Both
 * stop at a common deadline, so that neither hangs if they cannot run at the same time.
 */
#ifndef BENCH_LINE_H
#define BENCH_LINE_H

#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <time.h>

enum { LINE_BATCHES = 5, LINE_TRIPS = 200 };

struct line { /* shared; zero at first, then only increasing */
    _Alignas(128) _Atomic uint64_t ball;
};

static inline int64_t clock_of(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static inline int64_t clock_ns(void)
{
    return clock_of(CLOCK_MONOTONIC);
}

/* Returns the processor time of this process. */
static inline int64_t clock_cpu_ns(void)
{
    return clock_of(CLOCK_PROCESS_CPUTIME_ID);
}

/* Returns a side's processor for measuring: the first (side 0) or last (side 1) of its
 * processors. */
static inline int line_processor(int side, const cpu_set_t *processors)
{
    int first = -1, last = -1;

    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET((size_t)cpu, processors)) {
            first = first < 0 ? cpu : first;
            last = cpu;
        }
    return side ? last : first;
}

/* Pins the caller to its side's processor.  Stores the old affinity in *before, to restore it. */
static inline void line_pin(int side, cpu_set_t *before)
{
    cpu_set_t one;

    sched_getaffinity(0, sizeof *before, before);
    CPU_ZERO(&one);
    CPU_SET((size_t)line_processor(side, before), &one);
    sched_setaffinity(0, sizeof one, &one);
}

/* Sends odd numbers and waits for the even ones on side 0, and the reverse on side 1.  Returns 0,
 * or -1 if the deadline has passed. */
static inline int line_trips(struct line *line, int side, uint64_t *count, int64_t deadline_ns)
{
    for (int i = 0; i < LINE_TRIPS; i++) {
        uint64_t await = *count + (side ? 1 : 2);
        if (side == 0)
            atomic_store_explicit(&line->ball, *count + 1, memory_order_release);
        for (unsigned spin = 1; atomic_load_explicit(&line->ball, memory_order_acquire) < await;
             spin++)
            if (spin % 4096 == 0 && clock_ns() > deadline_ns)
                return -1;
        if (side == 1)
            atomic_store_explicit(&line->ball, *count + 2, memory_order_release);
        *count += 2;
    }
    return 0;
}

/* Measures the transfer; both sides must call this function, with the line's count so far (kept by
 * each side, 0 at first).  Returns ns one way, or -1 if the measurement failed. */
static inline double line_measure(struct line *line, int side, uint64_t *count, int64_t deadline_ns)
{
    uint64_t start = *count,
             end = start + 2 * LINE_TRIPS * (LINE_BATCHES + 1); /* the first batch warms up */
    double best = -1;
    cpu_set_t before;

    line_pin(side, &before);
    for (int b = 0; b <= LINE_BATCHES; b++) {
        int64_t begin = clock_ns();
        if (line_trips(line, side, count, deadline_ns) != 0) {
            best = -1;
            break;
        }
        double one_way = (double)(clock_ns() - begin) / LINE_TRIPS / 2;
        if (b > 0 && (best < 0 || one_way < best))
            best = one_way;
    }
    *count = end;
    sched_setaffinity(0, sizeof before, &before);
    return best;
}

#endif
