/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * idle.h - how oversubscribed ranks wait between two measured calls.
 *
 * They yield, so that the ranks of a processor take turns within microseconds.  But a scheduler
 * gives each session a share of its own (autogroup, containers), and some launchers give each rank
 * a session.  A yield then hands the processor to nobody: ranks run for whole time slices, most of
 * them too late for the common start, and the figures are those of the scheduler.  Such ranks
 * sleep.
 */
#ifndef BENCH_IDLE_H
#define BENCH_IDLE_H

#include "line.h"

#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/resource.h>

enum { IDLE_PROBE_NS = 30000000, IDLE_NAP_NS = 20000 };

/* Returns how often this process has left its processor. */
static inline int64_t idle_switches(void)
{
    struct rusage use;

    getrusage(RUSAGE_SELF, &use);
    return use.ru_nvcsw + use.ru_nivcsw;
}

/* Yields for a while, at the same time as all other ranks.  Returns whether this rank shared its
 * processor, but not by its yields. */
static inline bool idle_yields_to_nobody(void)
{
    int64_t begin = clock_ns(), cpu = clock_cpu_ns(), switches = idle_switches(), yields = 0;

    for (; clock_ns() - begin < IDLE_PROBE_NS; yields++)
        sched_yield();
    int64_t wall = clock_ns() - begin;
    return (clock_cpu_ns() - cpu) * 4 < wall * 3 && (idle_switches() - switches) * 8 < yields;
}

/* Sleeps, until a moment if `flags` is TIMER_ABSTIME.  By default the kernel may add 50 us to a
 * sleep.  The measured calls keep that: their own sleeps are a part of them. */
static inline void idle_sleep(int flags, int64_t ns)
{
    const struct timespec t = { .tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000 };

    prctl(PR_SET_TIMERSLACK, 1UL);
    clock_nanosleep(CLOCK_MONOTONIC, flags, &t, NULL);
    prctl(PR_SET_TIMERSLACK, 0UL);
}

#endif
