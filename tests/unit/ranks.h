/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks.h - runs ranks as threads or processes (fork_team.h), each with a context and teams of all
 * ranks. Their exchange can be blocking or nonblocking. */
#ifndef HUD_TESTS_RANKS_H
#define HUD_TESTS_RANKS_H

#include "fork_team/fork_team.h"

#include <stdint.h>

enum { RANKS_MAX = 5, RANKS_TEAMS = 100, RANKS_CALLS = 512 };

struct rank_team {
    struct rank *of;
    int number, rounds; /* number of allgathers so far */
    struct rank_pending {
        int round, tests;
        size_t bytes;
        void *all;
    } pending;
    int released;
    hud_team *team;
    unsigned turns;   /* number of the host's own collectives, and */
    uint64_t history; /* a hash of their order */
};

struct rank {
    struct fork_rank *self;
    int rank, ranks, team_count;
    hud_context *context;
    hud_team *team; /* the first of the teams */
    struct rank_team teams[RANKS_TEAMS];
    int status[RANKS_CALLS], calls; /* the statuses passed to rank_handled() */
};

struct ranks {
    int ranks, teams;                             /* 0 teams: one */
    bool processes;                               /* otherwise ranks are threads */
    bool blocking;                                /* the exchange has only a blocking allgather */
    bool fault_tolerant, multithreaded, in_a_job; /* in_a_job: the exchange has ranks in the job */
    bool ends_own_calls;         /* the body calls hud_team_exit after each call that is passed */
    const char *name;            /* name of the teams, or NULL.  With a name, the host is an MPI */
    const char *const *settings; /* NULL-terminated, of all ranks, */
    const char *const *of_rank[RANKS_MAX]; /* except of those that have their own */
    const struct hud_messages *messages;   /* messages of the exchange, or NULL */
    void (*body)(struct rank *r);
};

/* Runs the body on all ranks. Fails if a rank failed. */
void ranks_run(const struct ranks *all);

/* Runs the body on threads with a single team and a blocking exchange. Returns the number of calls
 * handled. Fails if a rank failed, or if ranks recorded different statuses. */
int ranks_run_threads(int ranks, const char *const *settings, void (*body)(struct rank *r));

/* Returns the ranks as a team to start, for a test that kills ranks. The team uses `all`. */
struct fork_team ranks_to_start(const struct ranks *all);

/* Checks a condition. If false, prints the condition and makes ranks_run() fail. */
#define MUST(r, holds)                                                                             \
    ((holds) ? (void)0                                                                             \
             : fork_team_fail((r)->self, "%s:%d: %s does not hold", __FILE__, __LINE__, #holds))

/* Checks a condition on a call. If false, prints what is wrong and makes ranks_run() fail. */
void rank_check(const struct rank *r, bool fine, const char *what, size_t bytes);

/* Records the status of a call. Returns true if huddle handled the call and gave a result. */
bool rank_handled(struct rank *r, int status);

/* Waits until all ranks have called this function. */
void ranks_meet(const struct rank *r);

/* Reports whether all ranks pass the same number. Waits for all ranks. */
bool ranks_agree(const struct rank *r, int place, uint64_t number);

void ranks_free_team(struct rank_team *t);

/* Replaces a team that has made no call by a team for this call only (hud_team_create_for). */
void ranks_make_for(struct rank_team *t, const struct hud_args *args);

#endif
