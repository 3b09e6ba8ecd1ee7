/* SPDX-License-Identifier: BSD-3-Clause */
/* stats_sums.h - the sums of a job's counters, and the two forms in which rank 0 reports them. */
#ifndef HUD_STATS_SUMS_H
#define HUD_STATS_SUMS_H

#include "core/job/context.h"

/* Sums of plain numbers. */
struct stats_sums {
    int ranks;
    uint64_t calls[COLL_KINDS], bytes[COLL_KINDS], ns[COLL_KINDS], empty[COLL_KINDS],
        reason_calls[COLL_KINDS][REASON_COUNT];
    uint64_t arena, leased, peak, leases, refused, home, elsewhere, messages, message_bytes;
    uint64_t decided, changed, known, learned, tried;
};

/* Adds the counters of this context and of all mapped arenas. */
struct stats_sums hud_stats_sum(struct hud_context *context);

/* Calls by where their choice is from. */
struct stats_choices {
    uint64_t known, learned, first, trials;
    uint64_t native; /* calls that fell back because the MPI is faster */
};

struct stats_choices hud_stats_choices(const struct stats_sums *sums);

/* Prints the sums to standard error, as a table (stats_table.c). */
void hud_stats_print_table(const struct hud_context *context, const struct stats_sums *sums);
/* Writes the sums to a file, as JSON (stats_json.c).  Returns 0, or errno of the first error. */
int hud_stats_write_json(const char *path, const struct hud_context *context,
                         const struct stats_sums *sums);

#endif
