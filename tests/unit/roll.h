/* SPDX-License-Identifier: BSD-3-Clause */
/* roll.h - a team under HUDDLE_CHECK without an MPI, its ranks threads or processes, and what they
 * say. */
#ifndef HUD_TESTS_ROLL_H
#define HUD_TESTS_ROLL_H

#include "core/check/check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include <cmocka.h>

enum { RANKS = 4 };

struct rank {
    int number;
    hud_context *context;
    hud_team *team;
    void (*body)(struct rank *r);
};

extern struct roll {
    const char *of_rank_1; /* one more setting */
    bool in_a_job;         /* ranks of a job whose launcher names none */
} roll;

/* Before all else, and before any fork: where ranks meet.  0, or -1. */
int roll_open(void);

/* A rank from its context to its end; arg is a struct rank.  Of threads it is the body. */
void *roll_run(void *arg);

/* What was written to standard error while all ranks ran the body as threads. */
const char *roll_said(void (*body)(struct rank *r));

/* A call, with what it shall be called. */
void roll_enter(struct rank *r, const char *what, int root, size_t bytes, const char *detail);

/* The next allgather of each rank is this one: nobody is in a set-up. */
void roll_meet(struct rank *r);

#endif
