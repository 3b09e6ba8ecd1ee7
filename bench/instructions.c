/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * instructions.c - how many instructions a rank executes in a call on the fast path.  The load of
 * the machine does not change this figure.
 *
 *     bench-instructions [CALLS]
 *
 * Two forked ranks.  Rank 1 is single-stepped through CALLS calls of a collective, and then
 * through none; the difference divided by CALLS is the count of one call.  "root": rank 1 is its
 * root.  A stepped rank is so slow that rank 0 has always posted before it looks, so no flag is
 * polled twice.  To compare versions, select another library by LD_LIBRARY_PATH.  Prints
 * "COLLECTIVE BYTES INSTRUCTIONS".
 */
#include "huddle/huddle.h"

#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RANKS = 2, COUNTED = 1, CELL_BYTES = 2048, WARM_UP = 200, CALLS = 200 };

static struct page {
    atomic_int arrived, left;
    char cell[RANKS][CELL_BYTES];
} * page;

static int rank_of(void *arg)
{
    return *(int *)arg;
}

static int size_of(void *arg)
{
    (void)arg;
    return RANKS;
}

static int allgather(void *arg, const void *mine, size_t bytes, void *all)
{
    memcpy(page->cell[rank_of(arg)], mine, bytes);
    atomic_fetch_add(&page->arrived, 1);
    while (atomic_load(&page->arrived) % RANKS != 0)
        sched_yield();
    for (int r = 0; r < RANKS; r++)
        memcpy((char *)all + (size_t)r * bytes, page->cell[r], bytes);
    atomic_fetch_add(&page->left, 1);
    while (atomic_load(&page->left) % RANKS != 0)
        sched_yield();
    return 0;
}

/* ---- the calls ---- */

enum { GATHER, SCATTER, BY_NAME };
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

static const struct measured {
    const char *name;
    int bytes;
    int (*call)(hud_team *team, int root);
    int root; /* COUNTED: the counted rank */
} measured[] = {
    { "barrier", 0, barrier, 0 },        { "bcast", 8, bcast, 0 },
    { "bcast root", 8, bcast, COUNTED }, { "allreduce", 8, allreduce, 0 },
    { "gather", 8, gather, 0 },          { "gather root", 8, gather, COUNTED },
    { "scatter", 8, scatter, 0 },        { "scatter root", 8, scatter, COUNTED },
};

/* ---- the ranks ---- */

static void run_calls(hud_team *team, const struct measured *what, int calls)
{
    for (int i = 0; i < calls; i++)
        if (what->call(team, what->root) != HUD_OK)
            _exit(1);
}

/* Stops before and after what is counted. */
static void rank(int number, const struct measured *what, int calls)
{
    struct hud_host host = { .world_rank = number, .world_size = RANKS, .local_ranks = RANKS };
    struct hud_exchange exchange = {
        .rank = rank_of, .size = size_of, .allgather = allgather, .arg = &number
    };
    hud_context *context;
    hud_team *team;

    if (hud_op_find(HUD_SUM, HUD_INT64, &sum) != HUD_OK ||
        hud_context_create(&host, &context) != HUD_OK ||
        hud_team_create(context, &exchange, &team) != HUD_OK)
        _exit(1);
    run_calls(team, what, WARM_UP);
    if (number == COUNTED)
        raise(SIGUSR1);
    run_calls(team, what, calls);
    if (number == COUNTED)
        raise(SIGUSR1);
    hud_barrier(team); /* rank 0 is not gone before rank 1 has been counted */
    _exit(0);
}

/* ---- the count ---- */

static bool stopped_at_mark(int status)
{
    return WIFSTOPPED(status) && WSTOPSIG(status) == SIGUSR1;
}

/* Instructions of rank 1 between its two marks; -1: something went wrong. */
static long count(const struct measured *what, int calls)
{
    pid_t child[RANKS];
    long steps = 0;
    int status = 0;

    atomic_store(&page->arrived, 0);
    atomic_store(&page->left, 0);
    for (int r = 0; r < RANKS; r++) {
        child[r] = fork();
        if (child[r] == 0) {
            if (r == COUNTED && ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
                _exit(1);
            rank(r, what, calls);
        }
    }
    bool counting =
        waitpid(child[COUNTED], &status, 0) == child[COUNTED] && stopped_at_mark(status);
    while (counting && ptrace(PTRACE_SINGLESTEP, child[COUNTED], NULL, NULL) == 0 &&
           waitpid(child[COUNTED], &status, 0) == child[COUNTED] && WIFSTOPPED(status) &&
           !stopped_at_mark(status))
        steps++;
    bool fine =
        counting && stopped_at_mark(status) && ptrace(PTRACE_CONT, child[COUNTED], NULL, NULL) == 0;
    if (!fine)
        kill(child[COUNTED], SIGKILL);
    for (int r = 0; r < RANKS; r++) {
        if (!fine)
            kill(child[r], SIGKILL);
        waitpid(child[r], &status, 0);
        fine = fine && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    }
    return fine ? steps : -1;
}

int main(int argc, char **argv)
{
    int calls = argc > 1 ? atoi(argv[1]) : CALLS;

    by_name[GATHER] = hud_collective("gather");
    by_name[SCATTER] = hud_collective("scatter");
    page = mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED || calls < 1)
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
