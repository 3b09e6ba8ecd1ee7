/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * edge_job.c - runs one job of forked ranks that use huddle without an MPI; one rank dies at a
 * chosen place.
 *
 *     HUD_TEST_KILL=FILE:LINE:N HUD_TEST_KILL_RANK=R HUD_TEST_EDGES=FILE edge_job [OPTIONS]
 *     COLLECTIVE RANKS
 *
 *     --groups              the ranks are in groups
 *     --handover            arenas are handed over as descriptors
 *     --wait                the host does not tolerate faults: survivors wait until they are killed
 *     --abort               HUDDLE_ON_DEATH=abort: the job ends
 *     --packed              buffers are not contiguous, so no rank accesses another rank's memory
 *                           directly
 *     --rounds N            calls on the first team
 *     --alternate OTHER     every second call uses this collective, and all calls are large
 *     --late R CALL         rank R sleeps before this call
 *     --second R            rank R dies in its first wait after the victim died
 *
 * HUD_TEST_EDGES names a file. Each rank appends the places it has reached, and how often.
 * Prints a line of JSON. Exits with 0 on success, with 1 if "fault" names a fault, and with 3 if
 * the job did not end.
 */
#define _GNU_SOURCE
#include "job.h"

#include "fork_team/fork_team.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { BOUND_MS = 20000, START_MS = 60000, STAY_MS = 700, TEXT = 16384 };

static struct page *page;
static struct options options = {
    .rounds = 2 * JOB_SIZES, .victim = -1, .second = -1, .late_rank = -1, .tolerant = true
};
static bool waits, aborts;
static int status_of[JOB_RANKS], alive;
static char text[TEXT]; /* output of the ranks */
static size_t used;
static int lines;
static double line_ms = -1;

static long long now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (long long)t.tv_sec * 1000000000 + t.tv_nsec;
}

static bool died(int rank)
{
    return WIFSIGNALED(status_of[rank]) && WTERMSIG(status_of[rank]) == SIGKILL &&
           (rank == options.victim || rank == options.second);
}

static double since_death_ms(void)
{
    return (double)(now_ns() - atomic_load(&page->struck_ns)) * 1e-6;
}

static int count(const char *what)
{
    int found = 0;

    for (const char *at = text; (at = strstr(at, what)) != NULL; at++)
        found++;
    return found;
}

static void read_lines(int fd, int ms)
{
    struct pollfd ready = { .fd = fd, .events = POLLIN };

    if (poll(&ready, 1, ms) <= 0 || used >= TEXT - 1)
        return;
    ssize_t got = read(fd, text + used, TEXT - 1 - used);
    used += got > 0 ? (size_t)got : 0;
    text[used] = '\0';
    lines = count(" has ended; ");
    if (lines != 0 && line_ms < 0)
        line_ms = since_death_ms();
}

static void reap(struct fork_team *team)
{
    int status;

    for (int rank; (rank = fork_team_reap(team, &status)) >= 0; alive--) {
        status_of[rank] = status;
        atomic_store(&page->dead[rank], 1);
    }
}

/* Waits until all ranks have ended. Returns false if they took too long. With --wait, survivors are
 * watched for STAY_MS after the line about the death, and then the function returns true. */
static bool attend(struct fork_team *team, int fd)
{
    long long begin = now_ns(), said = 0;

    while (alive > 0) {
        read_lines(fd, 1);
        reap(team);
        bool struck = atomic_load(&page->struck) != 0;
        if (struck ? since_death_ms() > BOUND_MS : (double)(now_ns() - begin) * 1e-6 > START_MS)
            return false;
        said = said == 0 && lines != 0 ? now_ns() : said;
        if (waits && said != 0 && (double)(now_ns() - said) * 1e-6 > STAY_MS)
            return true;
    }
    for (size_t before = used + 1; before != used;) {
        before = used;
        read_lines(fd, 0);
    }
    return true;
}

static const char *find_fault(bool ended)
{
    bool struck = atomic_load(&page->struck) != 0, killed = options.victim < 0;
    int failures = 0, deaths = 0;

    for (int r = 0; r < options.ranks; r++) {
        failures += atomic_load(&page->failed[r]);
        deaths += atomic_load(&page->dead[r]) && died(r);
        killed = killed || (r == options.victim && died(r));
    }
    if (!ended)
        return "the survivors do not end";
    if (strstr(text, "fault:"))
        return strstr(text, "fault:");
    if (struck && !killed)
        return "the victim lives";
    if (lines > (options.second >= 0 ? 2 : 1))
        return "more than one line";
    /* ranks cannot map the shared memory of a peer that died in the set-up */
    if (count("\n") != lines + count(" cannot map the shared memory of other ranks: "))
        return text;
    for (int r = 0; r < options.ranks; r++)
        if (atomic_load(&page->dead[r]) && !died(r) && status_of[r] != 0 &&
            !(aborts && lines == 1 && WEXITSTATUS(status_of[r]) == 7))
            return "a survivor ended with an error";
    if (waits || aborts)
        return waits && lines != 0 && alive != options.ranks - deaths ? "a survivor does not wait"
                                                                      : NULL;
    if ((failures != 0) != (lines != 0))
        return lines ? "a line, but no call has failed" : "calls have failed without a line";
    return NULL;
}

/* Prints the result as JSON. Quotes and control characters become apostrophes, so that the text
 * needs no escapes. */
static void print_result(const char *fault)
{
    int ok = 0, failed = 0;
    char plain[400], waited[JOB_RANKS * (JOB_PLACE + 4)] = "";

    for (int r = 0; r < options.ranks; r++) {
        ok += atomic_load(&page->ok[r]);
        failed += atomic_load(&page->failed[r]);
        if (page->waited[r][0] != '\0')
            snprintf(waited + strlen(waited), sizeof waited - strlen(waited), "%s\"%s\"",
                     waited[0] != '\0' ? ", " : "", page->waited[r]);
    }
    snprintf(plain, sizeof plain, "%s", fault ? fault : "");
    for (char *c = plain; *c; c++)
        *c = *c == '"' || *c == '\\' || *c < ' ' ? '\'' : *c;
    printf("{\"struck\": %s, \"call\": %d, \"lines\": %d, \"line_ms\": %.1f, \"ok\": %d, "
           "\"failed\": %d, \"waited\": [%s], \"fault\": \"%s\"}\n",
           atomic_load(&page->struck) ? "true" : "false", atomic_load(&page->struck) - 1, lines,
           line_ms, ok, failed, waited, plain);
}

/* Runs a rank.  All ranks write to one pipe. */
static int run_rank(struct fork_rank *self, void *arg)
{
    const int *pipes = arg;

    dup2(pipes[1], STDERR_FILENO);
    return member_run(&options, page, self->rank);
}

static int run(void)
{
    int pipes[2];
    struct fork_team team = { .ranks = options.ranks, .body = run_rank, .arg = pipes };

    if (pipe2(pipes, O_CLOEXEC) != 0 || fork_team_start(&team, NULL) != 0)
        return 2;
    alive = options.ranks;
    close(pipes[1]);
    bool ended = attend(&team, pipes[0]);
    const char *fault = find_fault(ended);
    fork_team_kill(&team);
    print_result(fault);
    return !ended ? 3 : fault != NULL;
}

static int take_options(int argc, char **argv)
{
    int i = 1;

    for (; i < argc && strncmp(argv[i], "--", 2) == 0; i++) {
        options.groups = options.groups || strcmp(argv[i], "--groups") == 0;
        options.handover = options.handover || strcmp(argv[i], "--handover") == 0;
        options.packed = options.packed || strcmp(argv[i], "--packed") == 0;
        waits = waits || strcmp(argv[i], "--wait") == 0;
        aborts = aborts || strcmp(argv[i], "--abort") == 0;
        if (strcmp(argv[i], "--second") == 0 && i + 1 < argc)
            options.second = atoi(argv[++i]);
        if (strcmp(argv[i], "--alternate") == 0 && i + 1 < argc)
            options.other = argv[++i];
        if (strcmp(argv[i], "--rounds") == 0 && i + 1 < argc)
            options.rounds = atoi(argv[++i]);
        if (strcmp(argv[i], "--late") == 0 && i + 2 < argc) {
            options.late_rank = atoi(argv[++i]);
            options.late_call = atoi(argv[++i]);
        }
    }
    return i;
}

int main(int argc, char **argv)
{
    int i = take_options(argc, argv);
    const char *rank = getenv("HUD_TEST_KILL_RANK");

    if (i + 2 != argc || atoi(argv[i + 1]) < 2 || atoi(argv[i + 1]) > JOB_RANKS) {
        fprintf(stderr, "usage: edge_job [--groups] [--handover] [--wait] [--abort] [--packed] "
                        "[--rounds N] [--alternate OTHER] [--late R CALL] [--second R] "
                        "COLLECTIVE RANKS\n");
        return 2;
    }
    options.collective = argv[i];
    options.ranks = atoi(argv[i + 1]);
    options.kill = getenv("HUD_TEST_KILL");
    options.record = getenv("HUD_TEST_EDGES");
    options.victim = options.kill && rank ? atoi(rank) : -1;
    options.tolerant = !waits && !aborts;
    if (aborts)
        setenv("HUDDLE_ON_DEATH", "abort", 1);
    page = mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return page == MAP_FAILED ? 2 : run();
}
