/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stats.h - the calls of each rank, and whether they were handled.  The counters are in the rank's
 * arena.  So rank 0 prints the job's sums at the end from the arenas that it has mapped, without a
 * collective.
 */
#ifndef HUD_STATS_H
#define HUD_STATS_H

#include "base/process_atomics.h"
#include "core/slice/stats_block.h"
#include "huddle/huddle.h"

struct hud_context;

/* The counters of a context. */
struct context_count {
    _Atomic(void *) stats; /* struct stats *: in the arena; until there is one, early */
    bool timed;            /* statistics are requested: measure times */
    struct stats early;    /* counts of other threads while the arena is created; added when
                              statistics are printed */
};

/* Reads the counters of this process's context for the recorder (src/host/record), into at most
 * max numbers.  Returns how many, or 0 without a context.  First come the numbers of
 * collectives and of reasons, then the counters of struct stats in their order. */
HUD_API int hud_statistics_here(uint64_t *values, int max);
/* Sets the context of this process, or NULL. */
void hud_stats_of(struct hud_context *context);

/* Prints the sums over this context and all mapped arenas to the destination of HUDDLE_STATS.
 * Communicates with no other rank.  Prints a line if the file cannot be written. */
void hud_stats_print(struct hud_context *context);

#endif
