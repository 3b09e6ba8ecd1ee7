/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * instructions.c - how many instructions a rank executes in a call on the fast path.  The load of
 * the machine does not change this figure.
 *
 *     bench-instructions [CALLS]
 *
 * Two forked ranks.  Rank 1 is single-stepped through CALLS calls of a collective, and then through
 * no calls; the difference divided by CALLS is the count of one call.  "root": rank 1 is the root.
 * "i": a nonblocking call is created, started, awaited and freed; "start": a persistent call is
 * started and awaited.
 * A stepped rank is so slow that rank 0 has always posted before rank 1 reads, so no flag is polled
 * twice.  To compare versions, select another library by LD_LIBRARY_PATH.  Prints "COLLECTIVE BYTES
 * INSTRUCTIONS".
 */
#include "fork_team/fork_team.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RANKS = 2, COUNTED = 1, WARM_UP = 200, CALLS = 200 };

/* ---- the calls ---- */

enum { GATHER, SCATTER, BARRIER, BCAST, ALLREDUCE, BY_NAME };
static int by_name[BY_NAME]; /* numbers of collectives */
static char buffer[64], result[64];
static struct hud_op sum;

static int barrier(hud_team *team, int root)
{
    (void)root;
    return hud_barrier(team);
}

static int bcast(hud_team *team, int root)
{
    const struct hud_view view = { .base = buffer, .bytes = 8 };

    return hud_bcast(team, &view, root);
}

static int allreduce(hud_team *team, int root)
{
    const struct hud_view in = { .base = buffer, .bytes = 8 }, out = { .base = result, .bytes = 8 };

    (void)root;
    return hud_allreduce(team, &in, &out, &sum);
}

static int gather(hud_team *team, int root)
{
    const struct hud_view in = { .base = buffer, .bytes = 8 },
                          out = { .base = result, .bytes = RANKS * 8 };
    const struct hud_args args = {
        .collective = by_name[GATHER], .in = &in, .out = &out, .root = root
    };

    return hud_call(team, &args);
}

static int scatter(hud_team *team, int root)
{
    const struct hud_view in = { .base = buffer, .bytes = RANKS * 8 },
                          out = { .base = result, .bytes = 8 };
    const struct hud_args args = {
        .collective = by_name[SCATTER], .in = &in, .out = &out, .root = root
    };

    return hud_call(team, &args);
}

static int complete(hud_request *request)
{
    int status = hud_request_start(request);

    return status == HUD_OK ? hud_request_wait(request) : status;
}

static int nonblocking(hud_team *team, const struct hud_args *args)
{
    hud_request *request;
    int status = hud_request_create(team, args, NULL, &request);

    if (status == HUD_OK)
        status = complete(request);
    hud_request_free(request);
    return status;
}

static int ibarrier(hud_team *team, int root)
{
    (void)root;
    return nonblocking(team, &(struct hud_args){ .collective = by_name[BARRIER] });
}

static int ibcast(hud_team *team, int root)
{
    const struct hud_view view = { .base = buffer, .bytes = 8 };

    return nonblocking(
        team, &(struct hud_args){ .collective = by_name[BCAST], .out = &view, .root = root });
}

static int iallreduce(hud_team *team, int root)
{
    const struct hud_view in = { .base = buffer, .bytes = 8 }, out = { .base = result, .bytes = 8 };

    (void)root;
    return nonblocking(
        team,
        &(struct hud_args){ .collective = by_name[ALLREDUCE], .in = &in, .out = &out, .op = &sum });
}

static int start_bcast(hud_team *team, int root)
{
    static const struct hud_view view = { .base = buffer, .bytes = 8 };
    static hud_request *request; /* one for all calls of a rank */
    const struct hud_args args = { .collective = by_name[BCAST], .out = &view, .root = root };

    if (!request && hud_request_create(team, &args, NULL, &request) != HUD_OK)
        return HUD_ERR_MEMORY;
    return complete(request);
}

static const struct measured {
    const char *name;
    int bytes;
    int (*call)(hud_team *team, int root);
    int root; /* COUNTED: the counted rank */
} measured[] = {
    { "barrier", 0, barrier, 0 },
    { "bcast", 8, bcast, 0 },
    { "bcast root", 8, bcast, COUNTED },
    { "allreduce", 8, allreduce, 0 },
    { "gather", 8, gather, 0 },
    { "gather root", 8, gather, COUNTED },
    { "scatter", 8, scatter, 0 },
    { "scatter root", 8, scatter, COUNTED },
    { "ibarrier", 0, ibarrier, 0 },
    { "ibcast", 8, ibcast, 0 },
    { "ibcast root", 8, ibcast, COUNTED },
    { "iallreduce", 8, iallreduce, 0 },
    { "start bcast", 8, start_bcast, 0 },
};

/* ---- the ranks ---- */

static void run_calls(hud_team *team, const struct measured *what, int calls)
{
    for (int i = 0; i < calls; i++)
        if (what->call(team, what->root) != HUD_OK)
            _exit(1);
}

struct counted {
    const struct measured *what;
    int calls;
};

/* Runs a rank.  The counted rank stops before and after the counted calls. */
static int run_rank(struct fork_rank *self, void *arg)
{
    const struct counted *counted = arg;
    bool stops = self->rank == COUNTED;

    if (stops && ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
        return 1;
    if (hud_op_find(HUD_SUM, HUD_INT64, &sum) != HUD_OK || fork_team_join(self, NULL) != HUD_OK ||
        hud_barrier(self->team) != HUD_OK) /* sets the team up, as requests need */
        return 1;
    run_calls(self->team, counted->what, WARM_UP);
    if (stops)
        raise(SIGUSR1);
    run_calls(self->team, counted->what, counted->calls);
    if (stops)
        raise(SIGUSR1);
    hud_barrier(self->team); /* keeps rank 0 until rank 1 has been counted */
    return 0;
}

/* ---- the count ---- */

/* Returns the signal by which a traced process stops, or -1 if it ends. */
static int next_stop(pid_t pid)
{
    int status;

    return waitpid(pid, &status, 0) == pid && WIFSTOPPED(status) ? WSTOPSIG(status) : -1;
}

/* Returns the instructions of a process between its two stops by SIGUSR1, or -1 on failure. */
static long count_steps(pid_t pid)
{
    int stop = next_stop(pid);
    long steps = -1;

    if (stop != SIGUSR1)
        return -1;
    do {
        steps++;
        stop = ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL) == 0 ? next_stop(pid) : -1;
    } while (stop == SIGTRAP);
    return stop == SIGUSR1 && ptrace(PTRACE_CONT, pid, NULL, NULL) == 0 ? steps : -1;
}

/* Returns the instructions of rank 1 in these calls, or -1 on failure. */
static long count(const struct measured *what, int calls)
{
    struct counted counted = { what, calls };
    struct fork_team team = { .ranks = RANKS, .body = run_rank, .arg = &counted };

    if (fork_team_start(&team, NULL) != 0)
        return -1;
    long steps = count_steps(fork_team_pid(&team, COUNTED));
    if (steps >= 0)
        return fork_team_end(&team) == 0 ? steps : -1;
    fork_team_kill(&team);
    return -1;
}

int main(int argc, char **argv)
{
    int calls = argc > 1 ? atoi(argv[1]) : CALLS;

    setenv("HUDDLE_WISDOM", "off", 0); /* a trial is other instructions */
    by_name[GATHER] = hud_collective("gather");
    by_name[SCATTER] = hud_collective("scatter");
    by_name[BARRIER] = hud_collective("barrier");
    by_name[BCAST] = hud_collective("bcast");
    by_name[ALLREDUCE] = hud_collective("allreduce");
    if (calls < 1)
        return 2;
    for (size_t i = 0; i < sizeof measured / sizeof measured[0]; i++) {
        long all = count(&measured[i], calls), none = count(&measured[i], 0);
        if (all < 0 || none < 0) {
            fprintf(stderr,
                    "bench-instructions: %s cannot be counted (ptrace forbidden, or the call was "
                    "not handled)\n",
                    measured[i].name);
            return 1;
        }
        printf("%-13s %3d B  %6.1f\n", measured[i].name, measured[i].bytes,
               (double)(all - none) / calls);
        fflush(stdout);
    }
    return 0;
}
