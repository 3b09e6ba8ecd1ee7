/* SPDX-License-Identifier: BSD-3-Clause */
/* rollcall_report.c - the lines of HUDDLE_CHECK: which member makes which call, and which has
 * not come. */
#include "base/process.h"
#include "core/config/log.h"
#include "core/watch/check.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>

enum { MAX_CALLS = 6, MAX_MISSING = 6 };

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

/* Adds "MPI_Bcast(root 0, 1024 bytes)", or "hud_bcast(...)" for a host that is no MPI. */
static void add_call(struct line *line, const struct hud_team *team, const struct roll_record *call)
{
    bool mpi = team->context->id.owner == team->context->id.mpi_name;
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

/* Adds "call 17 of MPI_COMM_WORLD (8 ranks)". */
static void add_team(struct line *line, const struct check *check)
{
    add(line, "call %llu of %s (%d ranks)", (unsigned long long)check->call, check->name,
        check->team->id.size);
}

/* Returns whether a rank is in the call, or back from the call, like another rank, with the same
 * words about the call. */
static bool is_like(const struct check *check, int rank, int other)
{
    const struct check_member *a = &check->member[rank], *b = &check->member[other];

    return a->there && a->back == b->back &&
           memcmp(&a->record, &b->record, offsetof(struct roll_record, entered_ns)) == 0;
}

/* Adds "ranks 0-2, 5 call " for the ranks with the same call as `first`, or "... are back from
 * ". */
static void add_ranks(struct line *line, const struct check *check, int first)
{
    int count = 0;
    const char *between = "";

    for (int r = first; r < check->team->id.size; r++)
        count += is_like(check, r, first);
    add(line, count == 1 ? "rank " : "ranks ");
    for (int r = first; r < check->team->id.size; r++) {
        if (!is_like(check, r, first))
            continue;
        int last = r;
        while (last + 1 < check->team->id.size && is_like(check, last + 1, first))
            last++;
        add(line, last == r ? "%s%d" : "%s%d-%d", between, r, last);
        between = ", ";
        r = last;
    }
    if (check->member[first].back)
        add(line, count == 1 ? " is back from " : " are back from ");
    else
        add(line, count == 1 ? " calls " : " call ");
}

/* Adds "ranks 0-6 call MPI_Bcast(root 0, 8 bytes); rank 7 calls MPI_Barrier", for the ranks that
 * are there. */
static void add_calls(struct line *line, const struct check *check)
{
    int calls = 0;

    for (int r = 0; r < check->team->id.size; r++) {
        int first = 0;
        while (first < r && !is_like(check, first, r))
            first++;
        if (first < r || !check->member[r].there)
            continue;
        if (++calls > MAX_CALLS) {
            add(line, ", and others");
            return;
        }
        add(line, calls == 1 ? "" : "; ");
        add_ranks(line, check, r);
        add_call(line, check->team, &check->member[r].record);
    }
}

static void add_missing(struct line *line, struct check *check, int rank, uint64_t now_ns)
{
    struct roll_record last;

    add(line, "rank %d (", rank);
    if (hud_process_ended(check->member[rank].pid, 0))
        add(line, "process %d has ended; ", check->member[rank].pid);
    if (check->call < 2 || !hud_shm_roll_peek(&check->watch_mem, check->call - 1, rank, &last)) {
        add(line, "no call yet)");
        return;
    }
    uint64_t left = hud_shm_roll_left_ns(&check->watch_mem, check->call, rank),
             since = left != 0 ? left : last.entered_ns;
    add(line, left != 0 ? "came back from call %llu, " : "still in call %llu, ",
        (unsigned long long)check->call - 1);
    add_call(line, check->team, &last);
    uint64_t passed = now_ns > since ? now_ns - since : 0; /* it may have moved since now was now */
    add(line, left != 0 ? ", %.1f s ago)" : ", for %.1f s)", (double)passed * 1e-9);
}

static void say(const struct check *check, const struct line *line)
{
    hud_log(&check->team->context->config, LOG_ERROR, "check: %s", line->text);
}

void hud_rollcall_report_difference(const struct check *check)
{
    const struct hud_context *context = check->team->context;
    struct line line = { .used = 0 };

    add_team(&line, check);
    add(&line, ": ");
    add_calls(&line, check);
    if (context->config.check_aborts)
        hud_log(&context->config, LOG_ERROR, "check: %s; aborting (HUDDLE_CHECK=abort)", line.text);
    else
        hud_log(&context->config, LOG_ERROR,
                "check: %s; these calls fall back to %.40s, where ranks may wait forever "
                "(HUDDLE_CHECK=abort ends the job instead)",
                line.text, context->id.owner);
}

void hud_rollcall_report_wait(struct check *check, uint64_t longest_ns, uint64_t now_ns)
{
    struct line line = { .used = 0 };
    int missing = 0;

    add(&line, "%.0f s of waiting in ", (double)longest_ns * 1e-9);
    if (check->stage == CHECK_SET_UP) {
        add(&line, "the first call of %s (%d ranks): rank %d is there, others are not", check->name,
            check->team->id.size, check->team->id.rank);
        say(check, &line);
        return;
    }
    add_team(&line, check);
    add(&line, ": ");
    add_calls(&line, check);
    for (int r = 0; r < check->team->id.size; r++) {
        if (check->member[r].there || ++missing > MAX_MISSING)
            continue;
        add(&line, missing == 1 ? "; missing: " : ", ");
        add_missing(&line, check, r, now_ns);
    }
    if (missing > MAX_MISSING)
        add(&line, " and %d more", missing - MAX_MISSING);
    say(check, &line);
}
