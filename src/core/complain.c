/* SPDX-License-Identifier: BSD-3-Clause */
/* complain.c - the lines of HUDDLE_CHECK: who calls what, and who has not come. */
#define _GNU_SOURCE
#include "core/check.h"
#include "core/log.h"

#include <ctype.h>
#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MOST_CALLS = 6, MOST_MISSING = 6, NAME_BYTES = 128 };

/* A line that grows; what does not fit is cut off. */
struct line {
    size_t used;
    char text[900];
};

static void __attribute__((format(printf, 2, 3))) add(struct line *line, const char *format, ...)
{
    size_t room = sizeof line->text - line->used;
    va_list args;

    va_start(args, format);
    int bytes = vsnprintf(line->text + line->used, room, format, args);
    va_end(args);
    line->used += bytes < 0 ? 0 : (size_t)bytes < room ? (size_t)bytes : room - 1;
}

/* "MPI_Bcast(root 0, 1024 bytes)"; of a host that is no MPI: "hud_bcast(...)". */
static void add_call(struct line *line, const struct hud_team *team, const struct roll_record *call)
{
    bool mpi = team->context->owner == team->context->host_name;
    const char *between = "(";

    if (strcmp(call->name, CHECK_GONE) == 0) {
        add(line, "%s", mpi ? "MPI_Comm_free or MPI_Finalize" : "hud_team_free");
        return;
    }
    if (mpi)
        add(line, "MPI_%c%s", toupper((unsigned char)call->name[0]), call->name + 1);
    else
        add(line, "hud_%s", call->name);
    if (call->root >= 0) {
        add(line, "%sroot %lld", between, (long long)call->root);
        between = ", ";
    }
    if (call->bytes != HUD_ANY_BYTES) {
        add(line, "%s%llu bytes", between, (unsigned long long)call->bytes);
        between = ", ";
    }
    if (call->detail[0] != '\0')
        add(line, "%s%s", between, call->detail);
    if (call->root >= 0 || call->bytes != HUD_ANY_BYTES || call->detail[0] != '\0')
        add(line, ")");
}

/* "MPI_COMM_WORLD (8 ranks)", or what can be said of a communicator without a name. */
static void add_team(struct line *line, const struct hud_team *team)
{
    char name[NAME_BYTES] = "";

    if (team->exchange.name)
        team->exchange.name(team->exchange.arg, name, sizeof name);
    if (name[0] != '\0') {
        add(line, "%s (%d ranks)", name, team->size);
        return;
    }
    add(line, "a communicator of %d ranks", team->size);
    if (team->exchange.world_rank)
        add(line, ", rank 0 of which is the job's rank %d", team->exchange.world_rank(team->exchange.arg, 0));
}

/* Is this rank in the call, and does it say of it what another one says? */
static bool is_like(const struct check *check, int rank, int other)
{
    const struct check_member *a = &check->member[rank], *b = &check->member[other];

    return a->there && memcmp(&a->said, &b->said, offsetof(struct roll_record, entered_ns)) == 0;
}

/* "ranks 0-2, 5 call " of those that make the same call as `first`. */
static void add_ranks(struct line *line, const struct hud_team *team, int first)
{
    int count = 0;
    const char *between = "";

    for (int r = first; r < team->size; r++)
        count += is_like(team->check, r, first);
    add(line, count == 1 ? "rank " : "ranks ");
    for (int r = first; r < team->size; r++) {
        if (!is_like(team->check, r, first))
            continue;
        int last = r;
        while (last + 1 < team->size && is_like(team->check, last + 1, first))
            last++;
        add(line, last == r ? "%s%d" : "%s%d-%d", between, r, last);
        between = ", ";
        r = last;
    }
    add(line, count == 1 ? " calls " : " call ");
}

/* "ranks 0-6 call MPI_Bcast(root 0, 8 bytes); rank 7 calls MPI_Barrier", of those that are there. */
static void add_calls(struct line *line, const struct hud_team *team)
{
    const struct check *check = team->check;
    int calls = 0;

    for (int r = 0; r < team->size; r++) {
        int first = 0;
        while (first < r && !is_like(check, first, r))
            first++;
        if (first < r || !check->member[r].there)
            continue;
        if (++calls > MOST_CALLS) {
            add(line, ", and others");
            return;
        }
        add(line, calls == 1 ? "" : "; ");
        add_ranks(line, team, r);
        add_call(line, team, &check->member[r].said);
    }
}

/* The process has ended, reaped or not.  False where the kernel cannot tell. */
static bool has_ended(int pid)
{
    if (pid == 0)
        return false;
#ifdef SYS_pidfd_open
    int fd = (int)syscall(SYS_pidfd_open, pid, 0);
    if (fd < 0)
        return errno == ESRCH;
    struct pollfd end = { .fd = fd, .events = POLLIN };
    bool ended = poll(&end, 1, 0) == 1;
    close(fd);
    return ended;
#else
    return false;
#endif
}

static void add_missing(struct line *line, const struct hud_team *team, int rank, uint64_t now_ns)
{
    struct check *check = team->check;
    struct roll_record last;

    add(line, "rank %d (", rank);
    if (has_ended(check->member[rank].pid))
        add(line, "process %d has ended; ", check->member[rank].pid);
    if (check->call < 2 || !hud_shm_roll_look(&check->mem, check->call - 1, rank, &last)) {
        add(line, "no call yet)");
        return;
    }
    uint64_t left = hud_shm_roll_left_ns(&check->mem, check->call, rank), since = left != 0 ? left : last.entered_ns;
    add(line, left != 0 ? "came back from call %llu, " : "still in call %llu, ", (unsigned long long)check->call - 1);
    add_call(line, team, &last);
    add(line, left != 0 ? ", %.1f s ago)" : ", for %.1f s)", (double)(now_ns - since) * 1e-9);
}

static void say(const struct hud_team *team, const struct line *line)
{
    hud_log(&team->context->config, LOG_ERROR, "check: %s", line->text);
}

void hud_complain_difference(const struct hud_team *team)
{
    struct line line = { .used = 0 };

    add(&line, "call %llu of ", (unsigned long long)team->check->call);
    add_team(&line, team);
    add(&line, ": ");
    add_calls(&line, team);
    say(team, &line);
}

void hud_complain_wait(const struct hud_team *team, uint64_t longest_ns, uint64_t now_ns)
{
    struct line line = { .used = 0 };
    int missing = 0;

    add(&line, "%.0f s of waiting in call %llu of ", (double)longest_ns * 1e-9, (unsigned long long)team->check->call);
    add_team(&line, team);
    add(&line, ": ");
    add_calls(&line, team);
    for (int r = 0; r < team->size; r++) {
        if (team->check->member[r].there)
            continue;
        if (++missing > MOST_MISSING)
            continue;
        add(&line, missing == 1 ? "; not there: " : ", ");
        add_missing(&line, team, r, now_ns);
    }
    if (missing > MOST_MISSING)
        add(&line, " and %d more", missing - MOST_MISSING);
    say(team, &line);
}
