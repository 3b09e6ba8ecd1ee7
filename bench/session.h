/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * session.h - shared by the measuring programs: options, the loop over collectives and sizes, JSON.
 *
 *   --coll barrier,bcast   --bytes 8,4096,...      collectives and sizes (default: every
 *                                                  collective, 8 B, 4 KB, 1 MB)
 *   --figure-ms 40  --min 15  --max 2000  --warmups 3        time and number of shots of a figure
 *   --root N|shift         --cold                  root; flush buffers from the caches
 *   --skew-us N | --late-us N                      ranks arrive at random within N us; one rank, in
 *                                                  turn, arrives N us late
 *   --way blocking|nonblocking|persistent          how a call is made
 *   --integers                                     reductions add integers of 64 bits, not doubles
 *   --unlabelled           no line transfer is measured with the figures
 *   --loop N               N back-to-back calls are one sample, as IMB and OSU measure, instead of
 *                          single shots
 *
 * Rank 0 writes one JSON object on standard output: "program" (its name), "ranks",
 * "oversubscribed", "wrong" (bytes, all figures) and "figures", each with collective, bytes,
 * median_ns, p99_ns, min_ns, mean_ns, shots, late, refused, wrong, cpu_ns, line_before_ns,
 * line_after_ns.
 */
#ifndef BENCH_SESSION_H
#define BENCH_SESSION_H

#include "shots.h"

enum { SESSION_SIZES = 64, SESSION_COLLS = 32 };

struct session {
    struct shots_plan plan;
    const struct shots_coll *table; /* terminated by a NULL name */
    bool chosen[SESSION_COLLS];     /* rows of the table */
    size_t bytes[SESSION_SIZES];
    int sizes;
    enum shots_way way;
    bool integers; /* reductions are of integers */
};

/* Parses the options.  Returns NULL, or the word of argv that is not valid. */
const char *session_parse(struct session *session, const struct shots_coll *table, int argc,
                          char **argv);

/* Measures the whole session; every rank must call this function.  Returns an exit status: 0, 1 for
 * wrong bytes, or 2 if out of memory or without this root (a line reports which). */
int session_run(const struct session *session, struct shots *s, const char *program, void *host);

#endif
