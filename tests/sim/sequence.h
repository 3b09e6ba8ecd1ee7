/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sequence.h - a random sequence of collective calls on one lease, made from a seed and run under
 * the checker; or several sequences at once, each on a team of its own of the same ranks, as
 * nonblocking calls: a rank has a call of each in flight, and they advance in any order.
 *
 * The seed decides all: groups, scheduling, slots, parameters, size of the lease, and each call's
 * algorithm, root, bytes, views.
 */
#ifndef HUD_SEQUENCE_H
#define HUD_SEQUENCE_H

#include "sim/sim.h"

#include <stdio.h>

struct sequence_options {
    int ranks;
    int teams;              /* sequences at once */
    bool one_lease;         /* for all of them: what must not be */
    const struct alg *only; /* NULL: all algorithms, mixed */
    uint64_t seed;
    const char *mutate_file; /* as in struct sim_options */
    int mutate_line, mutate;
};

/* What was done, added up over runs. */
struct sequence_sums {
    unsigned long runs, calls, truncated, events, mutated;
};

/* True: clean, or nothing to run (no algorithm works in the lease).  Else the report went to
 * `to`. */
bool sequence_run(const struct sequence_options *options, struct sequence_sums *sums, FILE *to);

#endif
