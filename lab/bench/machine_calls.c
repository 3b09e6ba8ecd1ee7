/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * machine_calls.c - the time of a call without its memory accesses.
 *
 * Two processes of a team.  Rank 1 calls LATE_NS after rank 0, whose flag is there by then: so its
 * call consists of the front end and one line transfer, without waiting.  The transfer is measured
 * by the same two processes, with a flag that was posted as long before, and subtracted, and so is
 * one reading of the clock.  The algorithms are forced: those with one line from rank 0 to rank 1.
 */
#include "fork_team/fork_team.h"
#include "machine.h"
#include "pinned.h"

#include <stdlib.h>
#include <sys/mman.h>

enum { CALLS = 1000, LATE_NS = 2000, READINGS = 2000 };

enum call { NONE, BARRIER, BCAST, ALLREDUCE, KINDS };

/* Shared by all processes. */
struct page {
    struct pinned_meeting meeting;
    _Alignas(PINNED_LINE) _Atomic uint64_t flag;
    double ns[KINDS];
};

struct rank {
    struct page *page;
    hud_team *team;
    struct hud_op op;
    uint64_t called;
    int number;
};

/* Returns the mean of the middle half of values that the clock has rounded. */
static double middle(double *values, int count)
{
    double sum = 0;

    pinned_median(values, count); /* sorts */
    for (int i = count / 4; i < count - count / 4; i++)
        sum += values[i];
    return sum / (count - 2 * (count / 4));
}

static int make(struct rank *r, enum call call)
{
    double cell = 0, sum = 0;
    const struct hud_view view = { .base = &cell, .bytes = sizeof cell },
                          result = { .base = &sum, .bytes = sizeof sum };

    r->called++;
    if (call == BARRIER)
        return hud_barrier(r->team);
    if (call == BCAST)
        return hud_bcast(r->team, &view, 0);
    if (call == ALLREDUCE)
        return hud_allreduce(r->team, &view, &result, &r->op);
    if (r->number == 0)
        atomic_store_explicit(&r->page->flag, r->called, memory_order_release);
    else
        while (atomic_load_explicit(&r->page->flag, memory_order_acquire) < r->called)
            pinned_pause();
    return HUD_OK;
}

/* Returns the ns of rank 1's calls, by the clock, or a negative number if they were refused. */
static double late(struct rank *r, enum call call)
{
    double ns[CALLS];

    for (int i = 0; i < CALLS; i++) {
        pinned_meet(&r->page->meeting);
        double from = pinned_ns() + (r->number == 0 ? 0 : LATE_NS), begin = from;
        while (r->number != 0 && (begin = pinned_ns()) < from)
            ;
        if (make(r, call) != HUD_OK)
            return -1;
        ns[i] = pinned_ns() - begin;
    }
    return middle(ns, CALLS);
}

static int body(struct fork_rank *self, void *arg)
{
    struct rank r = { .page = arg, .number = self->rank };

    if (hud_op_find(HUD_SUM, HUD_DOUBLE, &r.op) != HUD_OK || fork_team_join(self, NULL) != HUD_OK)
        return 1;
    r.team = self->team;
    for (int call = 0; call < KINDS; call++) {
        double ns = late(&r, (enum call)call);
        if (ns < 0)
            return 1;
        if (r.number == 1)
            r.page->ns[call] = ns;
    }
    fork_team_leave(self);
    return 0;
}

/* Measures the ns of each kind of call.  Returns false if no team could be created. */
static bool late_calls(double ns[KINDS])
{
    struct page *page = fork_team_shared(sizeof *page);

    if (!page)
        return false;
    page->meeting.threads = 2;
    setenv("HUDDLE_TUNING", "off", 1);
    setenv("HUDDLE_WISDOM", "off", 1);
    setenv("HUDDLE_BARRIER", "dissemination", 1);
    setenv("HUDDLE_BCAST", "inline", 1);
    setenv("HUDDLE_ALLREDUCE", "inline", 1);
    bool fine =
        fork_team_run(&(struct fork_team){ .ranks = 2, .bind = true, .body = body, .arg = page }) ==
        0;
    for (int call = 0; call < KINDS; call++)
        ns[call] = page->ns[call];
    munmap(page, sizeof *page);
    return fine;
}

/* Returns how much longer the first of two kinds takes. */
static double difference(enum call longer, enum call shorter, char note[MACHINE_NOTE])
{
    double ns[KINDS];

    if (!late_calls(ns))
        return snprintf(note, MACHINE_NOTE, "no team of two processes could be had"), -1;
    return ns[longer] > ns[shorter] ? ns[longer] - ns[shorter] : 0;
}

double measure_enter(const struct measured *on, int class, char note[MACHINE_NOTE])
{
    (void)on, (void)class;
    snprintf(note, MACHINE_NOTE,
             "measured: barrier of 2 ranks, where the other has come before, "
             "less a flag's line");
    return difference(BARRIER, NONE, note);
}

double measure_data(const struct measured *on, int class, char note[MACHINE_NOTE])
{
    (void)on, (void)class;
    snprintf(note, MACHINE_NOTE,
             "measured: bcast of 8 bytes, less a barrier, where the other has "
             "come before");
    return difference(BCAST, BARRIER, note);
}

double measure_reducing(const struct measured *on, int class, char note[MACHINE_NOTE])
{
    (void)on, (void)class;
    snprintf(note, MACHINE_NOTE,
             "measured: allreduce of 8 bytes, less a bcast, where the other has "
             "come before");
    return difference(ALLREDUCE, BCAST, note);
}

/* ---- the clock ---- */

static void body_clock(void *arg, int thread)
{
    double *ns = arg;

    (void)thread;
    for (int r = 0; r < PINNED_ROUNDS; r++) {
        double begin = pinned_ns(), now = begin;
        for (int i = 0; i < READINGS; i++)
            now = pinned_ns();
        ns[r] = (now - begin) / READINGS;
    }
}

double measure_clock(const struct measured *on, int class, char note[MACHINE_NOTE])
{
    double ns[PINNED_ROUNDS];

    (void)class;
    snprintf(note, MACHINE_NOTE, "measured: readings of the clock, median of %d times %d",
             PINNED_ROUNDS, READINGS);
    return pinned_run(on->os, 1, body_clock, ns) == 0 ? pinned_median(ns, PINNED_ROUNDS) : -1;
}
