/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * members.h - forked processes that form a team without MPI.
 *
 * Bound, the k-th process runs on the k-th core (hwloc's logical order), round robin.  Members die
 * with the process that started them.  It stops as soon as one of them fails, so no process waits
 * for a dead one.
 */
#ifndef HUD_MEMBERS_H
#define HUD_MEMBERS_H

#include "huddle/huddle.h"

#include <stdbool.h>
#include <stdio.h>

enum { MEMBERS_MAX = 1024 };

struct member {
    struct board *board; /* where they meet while the team is set up */
    int rank, ranks;
    int cpu;   /* -1: unbound */
    FILE *out; /* to the process that started it */
};

/* A member: its exit status is what this returns. */
typedef int (*member_main)(struct member *m, void *arg);

/* The reading ends of the members' output in from[ranks].  Returns 0, or -1: a line says why. */
int members_start(int ranks, bool bind, member_main body, void *arg, int *from);

/* Waits for all.  Returns 0, or the status of the first that failed (1 if it was killed), as soon
 * as it has. */
int members_end(void);

/* What a member's team needs: its allgather, and a context's host. */
struct hud_exchange members_exchange(struct member *m);
struct hud_host members_host(const struct member *m);

/* All members wait for each other. */
void members_meet(const struct member *m);

#endif
