/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stats.h - the calls of each rank, and whether they were handled.  The counters are in the rank's
 * arena.  So rank 0 prints the job's sums at the end from the arenas that it has mapped, without a
 * collective.
 */
#ifndef HUD_STATS_H
#define HUD_STATS_H

#include "coll/coll.h"
#include "core/reason.h"
#include "huddle/huddle.h"
#include "mem/counter.h"

struct stats_coll {
    mem_counter calls, bytes, ns; /* ns only while statistics are on */
    mem_counter empty; /* calls of zero bytes, which return at once; not counted in `calls` */
    mem_counter became[REASON_COUNT]; /* [REASON_NONE]: handled */
};

/* Only counters. */
struct stats {
    struct stats_coll coll[COLL_KINDS];
    mem_counter arena_bytes, leased_bytes, leased_peak_bytes, leases,
        teams_refused; /* the ledger */
    mem_counter pages_home,
        pages_elsewhere; /* committed pages, as verified once each; both 0: not known */
    mem_counter messages, message_bytes; /* sent to other nodes */
    mem_counter tried, changed; /* HUDDLE_ADAPT: trials of teams whose rank 0 this is, and those
                                   that the second candidate has won */
};

struct hud_context;

/*
 * For the recorder (src/host/record): the counters of this process's context, into at most max
 * numbers.  Returns how many.  First come the numbers of collectives and of reasons, then the
 * counters of struct stats in their order.  0: there is no context.
 */
HUD_API int hud_statistics_here(uint64_t *values, int max);
/*
 * For the recorder, too: the name of this process's tuning file, as a text of at most max bytes; as
 * an absolute one where the file is still found.  "": none.  Returns 1; 2 if the file was measured
 * on another machine; 0: there is no context.
 */
HUD_API int hud_tuning_here(char *file, int max);
/* The context of this process, or NULL. */
void hud_stats_of(struct hud_context *context);

/* Prints to the destination of HUDDLE_STATS: sums over this context and every arena that it has
 * mapped.  Local.  If the file cannot be written, a line reports it. */
void hud_stats_print(struct hud_context *context);

#endif
