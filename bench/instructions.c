/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * instructions.c - how many instructions a rank executes in a call on the fast path.  The load of
 * the machine does not change this figure.
 *
 *     bench-instructions [--build]
 *
 * Two forked ranks call each collective.  Rank 1 is single-stepped through CALLS calls and through
 * CALLS calls of an empty function; the difference of the medians is the count of one call.  Rank 0
 * is given time before each counted call, and a stepped rank is slow: so rank 0 has posted before
 * rank 1 reads, and no flag is polled twice.
 *
 * Prints the build, then "CALL,BYTES,INSTRUCTIONS" per call.  "root": rank 1 is the root.  "i": a
 * nonblocking call is created, started, awaited and freed.  "start": a persistent call is started
 * and awaited.  --build: prints only the build.  Exit status: 0, 1 if a call cannot be counted, or
 * 77 if processes cannot be single-stepped here.
 *
 * tests/bench/instructions.py compares the output with a record.  To compare versions of the
 * library, select another one by LD_LIBRARY_PATH.
 */
#include "data.h"
#include "fork_team/fork_team.h"
#include "teams.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { RANKS = 2, COUNTED = 1, WARM_UP = 200, CALLS = 3, BUFFER_BYTES = 1 << 16 };
/* Sizes: of the smallest messages, and the first size for which most collectives choose another
 * algorithm.  Longer messages would count the copies of the C library and of the processor. */
enum { SHORT_BYTES = 8, LONG_BYTES = 128 };
static const long settle_ns = 1000000; /* time of rank 0 before a counted call */

struct measured {
    const struct shots_coll *row;
    size_t bytes;
    int root;
    enum shots_way way;
};

/* ---- the ranks ---- */

/* Does nothing.  Its count is of the loop and the stop, which are part of each counted call. */
static int call_nothing(const struct shots_call *c)
{
    (void)c;
    return 0;
}

static void must(bool fine)
{
    if (!fine)
        _exit(1);
}

/* Makes calls.  The counted rank stops before each. */
static void make_calls(int (*call)(const struct shots_call *c), const struct shots_call *c,
                       int calls, bool stops)
{
    for (int i = 0; i < calls; i++) {
        if (stops)
            raise(SIGUSR1);
        must(call(c) == 0);
    }
}

/* Runs a rank.  The counted rank stops before each of its CALLS calls, before each of as many empty
 * calls, and after them. */
static int run_rank(struct fork_rank *self, void *arg)
{
    static _Alignas(4096) char in[BUFFER_BYTES], out[BUFFER_BYTES];
    const struct measured *what = arg;
    struct teams_host host = { .way = what->way };
    struct shots_call c = { .in = in,
                            .out = out,
                            .bytes = what->bytes,
                            .rank = self->rank,
                            .ranks = self->ranks,
                            .root = what->root,
                            .kind = what->row->kind,
                            .host = &host };
    bool stops = self->rank == COUNTED;

    must(!stops || ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0);
    must(fork_team_join(self, NULL) == HUD_OK);
    must(hud_barrier(self->team) == HUD_OK); /* sets the team up, as requests need */
    host.team = self->team;
    what->row->fill(&c);
    make_calls(what->row->call, &c, WARM_UP, false);
    make_calls(what->row->call, &c, CALLS, stops);
    if (stops) {
        make_calls(call_nothing, &c, CALLS, true);
        raise(SIGUSR1);
    }
    must(!what->row->wrong || what->row->wrong(&c) == 0);
    hud_request_free(host.kept.request);
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

/* Returns the instructions of a process until it stops by SIGUSR1, or -1 on failure. */
static long count_steps(pid_t pid)
{
    long steps = -1;
    int stop;

    do {
        steps++;
        stop = ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL) == 0 ? next_stop(pid) : -1;
    } while (stop == SIGTRAP);
    return stop == SIGUSR1 ? steps : -1;
}

/* Returns whether the system lets this process single-step another. */
static bool can_step(void)
{
    pid_t pid = fork();

    if (pid == 0) {
        must(ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0);
        raise(SIGUSR1);
        _exit(0);
    }
    bool steps = pid > 0 && next_stop(pid) == SIGUSR1 &&
                 ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL) == 0 && next_stop(pid) == SIGTRAP;
    if (steps) {
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
    }
    return steps;
}

static int compare(const void *a, const void *b)
{
    long x = *(const long *)a, y = *(const long *)b;

    return (x > y) - (x < y);
}

/* Returns the median of the instructions of CALLS calls, or -1 on failure. */
static long median_steps(pid_t pid)
{
    long steps[CALLS];

    for (int i = 0; i < CALLS; i++) {
        nanosleep(&(struct timespec){ .tv_nsec = settle_ns }, NULL);
        steps[i] = count_steps(pid);
        if (steps[i] < 0)
            return -1;
    }
    qsort(steps, CALLS, sizeof *steps, compare);
    return steps[CALLS / 2];
}

/* Returns the instructions of a call, or -1 on failure. */
static long count(struct measured what)
{
    struct fork_team team = { .ranks = RANKS, .body = run_rank, .arg = &what };

    if (fork_team_start(&team, NULL) != 0)
        return -1;
    pid_t pid = fork_team_pid(&team, COUNTED);
    long calls = next_stop(pid) == SIGUSR1 ? median_steps(pid) : -1;
    long nothing = calls >= 0 ? median_steps(pid) : -1;
    if (nothing >= 0 && ptrace(PTRACE_CONT, pid, NULL, NULL) == 0)
        return fork_team_end(&team) == 0 ? calls - nothing : -1;
    fork_team_kill(&team);
    return -1;
}

static void print_count(struct measured what)
{
    static const char *const before[] = {
        [SHOTS_BLOCKING] = "", [SHOTS_NONBLOCKING] = "i", [SHOTS_PERSISTENT] = "start "
    };
    const char *root = what.root == COUNTED ? " root" : "";
    long instructions = count(what);

    if (instructions < 0) {
        fprintf(
            stderr,
            "bench-instructions: %s%s%s of %zu B: not handled, wrong bytes, or a process died\n",
            before[what.way], what.row->name, root, what.bytes);
        exit(1);
    }
    printf("%s%s%s,%zu,%ld\n", before[what.way], what.row->name, root, what.bytes, instructions);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    bool only_build = argc > 1 && !strcmp(argv[1], "--build");

    if (!only_build && !can_step())
        return fprintf(stderr, "bench-instructions: processes cannot be single-stepped here\n"), 77;
    setenv("HUDDLE_WISDOM", "off", 0); /* a trial is other instructions */
    setenv("HUDDLE_CMA", "off", 0);    /* its test is of times */
    printf("# %s\n", BENCH_BUILD);
    for (const struct shots_coll *row = teams_colls(); row->name && !only_build; row++) {
        bool moves = row->moves != SHOTS_NO_BYTES;
        size_t bytes = moves ? SHORT_BYTES : 0;
        int roots = coll_has(row->kind, COLL_ROOTED) ? RANKS : 1;
        for (int root = 0; root < roots; root++) {
            print_count((struct measured){ row, bytes, root, SHOTS_BLOCKING });
            if (moves)
                print_count((struct measured){ row, LONG_BYTES, root, SHOTS_BLOCKING });
        }
        print_count((struct measured){ row, bytes, 0, SHOTS_NONBLOCKING });
        print_count((struct measured){ row, bytes, 0, SHOTS_PERSISTENT });
    }
    return 0;
}
