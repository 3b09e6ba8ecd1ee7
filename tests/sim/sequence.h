/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sequence.h - a random sequence of collective calls on one lease, drawn from a seed and run under
 * the checker. Several sequences can run at once as nonblocking calls, each on its own team of the
 * same ranks: a rank has a call of each sequence in flight, and the calls advance in any order.
 *
 * Groups, scheduling, slots, parameters, the size of the lease, and each call's algorithm, root,
 * bytes and views depend on the seed only.
 */
#ifndef HUD_SEQUENCE_H
#define HUD_SEQUENCE_H

#include "check/sim.h"

#include <stdio.h>

struct sequence_options {
    int ranks;
    int teams;              /* number of sequences at once */
    bool one_lease;         /* all teams share one lease, which is an error to be reported */
    const struct alg *only; /* NULL to mix all algorithms */
    uint64_t seed;
    const char *mutate_file; /* see struct sim_options */
    int mutate_line, mutate;
};

/* Totals over all runs. */
struct sequence_sums {
    unsigned long runs, calls, truncated, events, mutated;
};

/* Returns the checker's options for a run with this scheduling (of enum sim_strategy). */
struct sim_options sequence_sim(const struct sequence_options *options, uint64_t strategy,
                                size_t arena_bytes);

/* Ends a run: adds it to the totals and frees the checker. */
void sequence_count(struct sim *sim, struct sequence_sums *sums);

/* Writes the report of a run of a part of the core, and how to repeat the run. */
void sequence_report_core(const struct sim *sim, const char *part, const struct sequence_options *o,
                          FILE *to);

/* Runs the sequences. Returns true if nothing was reported, also if no algorithm works in the
 * lease. Otherwise writes the report to `to`. */
bool sequence_run(const struct sequence_options *options, struct sequence_sums *sums, FILE *to);

#endif
