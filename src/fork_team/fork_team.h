/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fork_team.h - starts the ranks of a team without MPI, as processes or as threads.
 *
 *     static int body(struct fork_rank *self, void *arg)
 *     {
 *         if (fork_team_join(self, NULL) != HUD_OK || hud_barrier(self->team) != HUD_OK)
 *             fork_team_fail(self, "no barrier");
 *         fork_team_leave(self);
 *         return 0;
 *     }
 *     int status = fork_team_run(&(struct fork_team){ .ranks = 4, .body = body });
 *
 * A rank fails if its body returns a value other than 0, if it calls fork_team_fail(), or if a
 * signal ends it.  If a process returns such a value or is ended by a signal, the other processes
 * are killed, so that none of them waits for a dead rank.  After limit_s seconds the processes that
 * have not ended are killed.  Threads cannot be killed, so the calling process ends instead.
 *
 * The processes die with the process that started them.  All memory that they share is anonymous,
 * so nothing remains when they are killed.
 *
 * The ranks of the checker (src/check) are fibers of one thread instead, because its scheduler
 * decides which rank runs next.  In tests/edges a rank dies on purpose, and the others stay: that
 * test waits by fork_team_reap(), and its exchange leaves dead ranks out.
 */
#ifndef HUD_FORK_TEAM_H
#define HUD_FORK_TEAM_H

#include "huddle/huddle.h"

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

enum { FORK_TEAM_MAX = 1024 };

/* A rank, as its body sees it. */
struct fork_rank {
    int rank, ranks;
    int cpu;   /* -1: unbound */
    FILE *out; /* output to the starting process, or NULL */
    hud_context *context;
    hud_team *team; /* made by fork_team_join() */
    bool failed;    /* fork_team_fail() was called */
    struct fork_board *board;
};

/* Runs a rank.  Returns the rank's exit status. */
typedef int (*fork_team_main)(struct fork_rank *self, void *arg);

struct fork_team {
    int ranks;
    bool threads; /* ranks are threads of this process; otherwise each is a forked process */
    bool bind;    /* the k-th process runs on the k-th core (hwloc's logical order), round robin */
    int limit_s;  /* 0: no time limit */
    fork_team_main body;
    void *arg;
    struct fork_started *started; /* set by fork_team_start() */
};

/* Starts the ranks.  With `from`, stores the reading ends of the processes' output in from[ranks].
 * Returns 0, or -1 after printing the reason. */
int fork_team_start(struct fork_team *team, int *from);

/* Waits for the ranks of a started team and frees the team.  Returns 0, or the exit status of a
 * failed rank (1 if it has none) after printing which rank was killed or exceeded the limit. */
int fork_team_end(struct fork_team *team);

/* Stores the status of a process of a started team that has ended, as waitpid() does.  Returns the
 * rank, or -1 if no further process has ended.  The other processes go on. */
int fork_team_reap(struct fork_team *team, int *status);

/* Waits for the process of one rank of a started team.  Returns its status, as waitpid() does.  The
 * other processes go on. */
int fork_team_await(struct fork_team *team, int rank);

/* Kills the processes of a started team and frees the team. */
void fork_team_kill(struct fork_team *team);

/* Starts the ranks and waits for them, like fork_team_start() and fork_team_end(). */
int fork_team_run(struct fork_team *team);

/* Returns the process of a rank of a started team. */
pid_t fork_team_pid(const struct fork_team *team, int rank);

/* Maps zeroed memory, which processes that start later share.  Returns NULL on failure.  munmap()
 * frees the memory. */
void *fork_team_shared(size_t bytes);

/* ---- for the body of a rank ---- */

/* Creates the rank's context, with NULL-terminated settings or NULL, and a team of all ranks.
 * Returns HUD_OK or the error. */
int fork_team_join(struct fork_rank *self, const char *const *settings);

/* Waits until all ranks have called this function, then frees the team and the context. */
void fork_team_leave(struct fork_rank *self);

/* Returns the parts of a team, for bodies that create teams themselves: the exchange of all ranks,
 * and the host of a context. */
struct hud_exchange fork_team_exchange(struct fork_rank *self);
struct hud_host fork_team_host(const struct fork_rank *self);

/* Waits until all ranks have called this function. */
void fork_team_meet(const struct fork_rank *self);

/* Marks the rank as failed, and prints the rank's first message to standard error.  The body
 * continues, because the other ranks would otherwise wait forever. */
__attribute__((format(printf, 2, 3))) void fork_team_fail(struct fork_rank *self,
                                                          const char *format, ...);

#endif
