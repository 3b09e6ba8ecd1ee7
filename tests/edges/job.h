/* SPDX-License-Identifier: BSD-3-Clause */
/* job.h - data that the processes of an edge_job share: a page that the parent made before it
 * forked the ranks, and the options of the run. */
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
    JOB_LARGE = 2, /* of these, the largest */
    JOB_PHASES = 3,
    JOB_PLACE = 64
};

/* One allgather, or the agreement on which ranks are alive.  All members get the same outcome, no
 * matter which rank dies, and when. */
struct meeting {
    atomic_int arrived[JOB_RANKS];
    atomic_int
        outcome; /* 0: open; then 1 + a mask of the ranks that count, or -1: a member has ended */
    char cell[JOB_RANKS][JOB_CELL];
};

struct page {
    atomic_int dead[JOB_RANKS]; /* set by the parent */
    atomic_int struck;          /* 1 + the number of the call that the victim was in */
    atomic_llong struck_ns;
    atomic_int handled[JOB_PHASES][JOB_SIZES]; /* 1: huddle serves calls of that size, 2: it does
                                                  not; one answer on all ranks */
    atomic_int ok[JOB_RANKS], failed[JOB_RANKS], passed[JOB_RANKS];
    char waited[JOB_RANKS][JOB_PLACE]; /* in which a call failed; empty: none did */
    struct meeting meeting[JOB_MEETINGS];
};

struct options {
    const char *collective, *kill, *record;
    const char *other; /* collective of every second call, all of the largest sizes; NULL: none */
    int ranks, victim, second; /* second: dies as soon as the victim has; -1: nobody */
    int late_rank, late_call;  /* sleeps before that call; -1: nobody */
    int rounds;                /* of the first team */
    bool tolerant, groups, handover, packed;
};

struct member {
    const struct options *options;
    struct page *page;
    int rank; /* in the job */
    int group[JOB_RANKS], size,
        place;           /* of the running team: members, how many, and where this one is */
    int meetings, calls; /* so far; alike on all members */
    bool refused;        /* a set-up's allgather failed: calls of this team pass */
    hud_context *context;
};

/* The rank's life; the exit status of its process.  Faults are lines on standard error. */
int member_run(const struct options *options, struct page *page, int rank);

/* A collective of that name and size index on the team; its status.  *right: the result is what it
 * should be, or nothing was promised. */
int calls_make(const struct member *m, hud_team *team, const char *collective, int size, int root,
               bool *right);

/* Somebody has written into the buffers of a call that had failed.  To be asked once, at the
 * end. */
bool calls_touched(void);

#endif
