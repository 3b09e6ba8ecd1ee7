/* SPDX-License-Identifier: BSD-3-Clause */
/* job.h - data shared by the processes of an edge_job: a page that the parent makes before it forks
 * the ranks, and the options of the run. */
#ifndef HUD_TESTS_JOB_H
#define HUD_TESTS_JOB_H

#include "huddle/huddle.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    JOB_RANKS = 8,
    JOB_CELL = 2048,
    JOB_MEETINGS = 64,
    JOB_SIZES = 6,
    JOB_LARGE = 2, /* the largest JOB_LARGE of the JOB_SIZES sizes */
    JOB_PHASES = 3,
    JOB_PLACE = 64
};

/* One allgather, or one agreement on which ranks are alive. All members get the same outcome, no
 * matter which rank dies, and when. */
struct meeting {
    atomic_int arrived[JOB_RANKS];
    atomic_int
        outcome; /* 0 while the meeting is open; then 1 + a mask of the ranks that count, or -1 if a
                  * member has ended */
    char cell[JOB_RANKS][JOB_CELL];
};

struct page {
    atomic_int dead[JOB_RANKS]; /* set by the parent */
    atomic_int struck;          /* 1 + the number of the call in which the victim died */
    atomic_llong struck_ns;
    atomic_int handled[JOB_PHASES][JOB_SIZES]; /* 1: huddle handles calls of this size; 2: it does
                                                * not. All ranks must agree */
    atomic_int ok[JOB_RANKS], failed[JOB_RANKS], passed[JOB_RANKS];
    char waited[JOB_RANKS][JOB_PLACE]; /* place at which a call failed; empty if none did */
    struct meeting meeting[JOB_MEETINGS];
};

struct options {
    const char *collective, *kill, *record;
    const char *other; /* collective of every second call, with all calls of the largest sizes; NULL
                        * for none */
    int ranks, victim, second; /* second: the rank that dies after the victim, or -1 for none */
    int late_rank, late_call;  /* this rank sleeps before this call; -1 for no rank */
    int rounds;                /* calls on the first team */
    bool tolerant, groups, handover, packed;
};

struct member {
    const struct options *options;
    struct page *page;
    int rank; /* this rank's number in the job */
    int group[JOB_RANKS], size,
        place;           /* the current team: its members, their number, and this rank's index */
    int meetings, calls; /* numbers so far; equal on all members */
    bool refused;        /* an allgather of the set-up failed, so calls of this team must fall
                          * back */
    hud_context *context;
};

/* Runs the life of one rank. Returns the exit status of its process. Faults are printed to standard
 * error, each on a line. */
int member_run(const struct options *options, struct page *page, int rank);

/* Calls the collective with a size index on the team and returns the call's status. Sets *right to
 * whether the result is correct; only a call that returned HUD_OK promises a result. */
int calls_make(const struct member *m, hud_team *team, const char *collective, int size, int root,
               bool *right);

/* Reports whether a rank has written to the buffers of a failed call. Frees these buffers, so call
 * once, at the end. */
bool calls_touched(void);

#endif
