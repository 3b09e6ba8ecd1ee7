/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * member.c - the life of one rank of an edge_job: two teams of all ranks, one after the other, then
 * a team of the survivors.
 *
 * A call may fail only if a rank has died. Later calls on the failed team must fall back. Every
 * promised result must be right. At the end no resource is left open.
 */
#define _GNU_SOURCE
#include "../resources.h"
#include "job.h"
#include "trap.h"

#include "core/job/context.h"

#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum { LATE_MS = 500 };

static struct member self;
static int faults;

static void fault(const char *format, ...)
{
    char line[256];
    va_list ap;

    va_start(ap, format);
    vsnprintf(line, sizeof line, format, ap);
    va_end(ap);
    fprintf(stderr, "fault: rank %d, call %d: %s\n", self.rank, self.calls, line);
    faults++;
}

static void sleep_ms(int ms)
{
    struct timespec t = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L };

    nanosleep(&t, NULL);
}

static void strike(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    atomic_store(&self.page->struck_ns, (long long)t.tv_sec * 1000000000 + t.tv_nsec);
    atomic_store(&self.page->struck, 1 + self.calls);
}

/* ---- meetings provided by the host ---- */

/* Waits until all members have arrived. Members that have ended are left out if without_dead is
 * set, and otherwise make the meeting fail. Returns the outcome, which the first member to see all
 * arrivals sets for all. */
static int meet(const int *group, int size, const void *mine, size_t bytes, bool without_dead,
                struct meeting **at)
{
    struct meeting *now = &self.page->meeting[self.meetings++];

    *at = now;
    if (self.meetings > JOB_MEETINGS || bytes > JOB_CELL)
        abort();
    if (bytes != 0)
        memcpy(now->cell[self.rank], mine, bytes);
    atomic_store(&now->arrived[self.rank], 1);
    hud_mem_edge("host", 2);
    while (atomic_load(&now->outcome) == 0) {
        int there = 0, gone = 0, mask = 0, open = 0;
        for (int i = 0; i < size; i++) {
            bool dead = atomic_load(&self.page->dead[group[i]]) != 0,
                 arrived = atomic_load(&now->arrived[group[i]]) != 0;
            there += arrived;
            gone += dead && !arrived;
            mask |= arrived && !(dead && without_dead) ? 1 << group[i] : 0;
        }
        if (there == size || (without_dead && there + gone == size))
            atomic_compare_exchange_strong(&now->outcome, &open, 1 + mask);
        else if (gone != 0 && !without_dead)
            atomic_compare_exchange_strong(&now->outcome, &open, -1);
        sched_yield();
    }
    return atomic_load(&now->outcome);
}

static int place(void *arg)
{
    (void)arg;
    return self.place;
}

static int size(void *arg)
{
    (void)arg;
    return self.size;
}

static int allgather(void *arg, const void *mine, size_t bytes, void *all)
{
    struct meeting *at;

    (void)arg;
    hud_mem_edge("host", 1);
    if (meet(self.group, self.size, mine, bytes, false, &at) < 0) {
        self.refused = true;
        return -1;
    }
    for (int i = 0; i < self.size; i++)
        memcpy((char *)all + (size_t)i * bytes, at->cell[self.group[i]], bytes);
    hud_mem_edge("host", 3);
    return 0;
}

static void die_second(void)
{
    bool among_survivors = self.meetings >= JOB_MEETINGS / 2; /* must not die: this team is expected
                                                               * to work */

    if (self.rank == self.options->second && !among_survivors &&
        atomic_load(&self.page->struck) != 0)
        kill(getpid(), SIGKILL);
}

/* Makes progress for the host. Called by waits, and by the handover of descriptors. */
static void progress(void *arg)
{
    (void)arg;
    if (self.options->handover && self.calls == 0)
        hud_mem_edge("host", 4);
    die_second();
}

static void end_job(void *arg)
{
    (void)arg;
    _exit(7);
}

/* Describes the machine as two sockets of two shared caches each, whatever the real machine is,
 * with a processor per rank. The ranks then form groups, and groups of groups. */
void __real_hud_topo_allowed(struct topo_cpus *cpus);
void __wrap_hud_topo_allowed(struct topo_cpus *cpus);
void __wrap_hud_topo_allowed(struct topo_cpus *cpus)
{
    if (!self.options || !self.options->groups) {
        __real_hud_topo_allowed(cpus);
        return;
    }
    memset(cpus, 0, sizeof *cpus);
    cpus->word[0] = (uint64_t)1 << self.rank * JOB_RANKS / self.options->ranks;
}

struct topo *__wrap_hud_topo_load(void);
struct topo *__real_hud_topo_load(void);
struct topo *__wrap_hud_topo_load(void)
{
    return self.options->groups ? hud_topo_load_described("pack:2 l3:2 core:2 pu:1")
                                : __real_hud_topo_load();
}

/* ---- teams ---- */

/* Verifies that all ranks answer calls of this size alike: all handle them, or all fall back. */
static void agree(int phase, int size_index, int answer)
{
    int before = 0;

    if (!atomic_compare_exchange_strong(&self.page->handled[phase][size_index], &before, answer) &&
        before != answer)
        fault("%s, but other ranks got another answer", answer == 1 ? "handled" : "passed");
}

/* Verifies the status of a call. Returns true if the team has failed. */
static bool judge(int phase, int size_index, int status, bool right, bool broken)
{
    bool struck = atomic_load(&self.page->struck) != 0;

    self.calls++;
    if (broken || self.refused) {
        if (status != HUD_PASS)
            fault("status %d of a call after a failure, not HUD_PASS", status);
    } else if (status == HUD_OK) {
        atomic_fetch_add(&self.page->ok[self.rank], 1);
        agree(phase, size_index, 1);
        if (!right)
            fault("a wrong result, reported as right");
    } else if (status == HUD_PASS) {
        atomic_fetch_add(&self.page->passed[self.rank], 1);
        agree(phase, size_index, 2);
    } else if (status == HUD_ERR_FAILED && struck && phase < JOB_PHASES - 1) {
        atomic_fetch_add(&self.page->failed[self.rank], 1);
        trap_latest(self.page->waited[self.rank], JOB_PLACE);
        return true;
    } else {
        fault("unexpected status %d", status);
    }
    return broken;
}

/* Returns the collective of a team's i-th call, and sets its size index. */
static const char *choose(int i, int *size_index)
{
    const struct options *o = self.options;

    *size_index = o->other ? JOB_SIZES - JOB_LARGE + i % JOB_LARGE : i % JOB_SIZES;
    return o->other && i % 2 != 0 ? o->other : o->collective;
}

static void rounds(int phase)
{
    struct hud_exchange exchange = { .rank = place, .size = size, .allgather = allgather };
    hud_team *team;
    bool broken = false, refused = false, right;

    self.refused = false;
    if (hud_team_create(self.context, &exchange, &team) != HUD_OK)
        abort();
    for (int i = 0; i < (phase == 0 ? self.options->rounds : JOB_SIZES); i++) {
        if (self.rank == self.options->late_rank && self.calls == self.options->late_call)
            sleep_ms(LATE_MS);
        int size_index;
        const char *collective = choose(i, &size_index);
        int status =
            calls_make(&self, team, collective, size_index, (i + phase) % self.size, &right);
        broken = judge(phase, size_index, status, right, broken);
        refused = (i == 0 || refused) && status == HUD_PASS &&
                  atomic_load(&self.page->struck) != 0; /* a rank that died in a set-up cannot be
                                                         * reached */
    }
    int last = calls_make(&self, team, "barrier", 0, 0,
                          &right); /* no rank can complete a barrier without the others */
    if (last == HUD_PASS && self.size > 1 && !broken &&
        (phase == JOB_PHASES - 1 || (!self.refused && !refused)))
        fault("the last barrier was not handled");
    broken = judge(phase, 0, last, right, broken || last == HUD_PASS);
    hud_team_free(team);
}

/* Sets the group to all survivors, in the order of ranks. */
static void gather_survivors(void)
{
    struct meeting *at;
    int outcome = meet(self.group, self.size, NULL, 0, true, &at), mask = outcome - 1, left = 0;

    for (int i = 0; i < self.size; i++)
        if (mask >> self.group[i] & 1) {
            self.place = self.group[i] == self.rank ? left : self.place;
            self.group[left++] = self.group[i];
        }
    self.size = left;
}

int member_run(const struct options *options, struct page *page, int rank)
{
    struct hud_host host = { .world_rank = rank,
                             .world_size = options->ranks,
                             .local_ranks = options->ranks,
                             .progress = progress,
                             .abort = end_job,
                             .fault_tolerant = options->tolerant };
    int files = open_descriptors();

    self = (struct member){
        .options = options, .page = page, .rank = rank, .size = options->ranks, .place = rank
    };
    for (int r = 0; r < options->ranks; r++)
        self.group[r] = r;
    trap_arm(rank == options->victim ? options->kill : NULL, strike);
    if (options->handover)
        prctl(PR_SET_DUMPABLE, 0);
    if (hud_context_create(&host, &self.context) != HUD_OK)
        abort();
    for (int phase = 0; phase < JOB_PHASES - 1; phase++)
        rounds(phase);
    if (options->record)
        trap_record(options->record, rank);
    trap_arm(NULL, NULL);
    die_second();
    self.meetings = JOB_MEETINGS / 2; /* some ranks took part in fewer meetings */
    self.calls = 0;
    gather_survivors();
    rounds(JOB_PHASES - 1);
    hud_context_destroy(self.context);
    if (calls_touched())
        fault("a buffer of a failed call was written to");
    if (count_mappings("memfd:huddle").named != 0)
        fault("an arena is still mapped");
    if (open_descriptors() != files)
        fault("%d open files at the end, %d at the begin", open_descriptors(), files);
    return faults != 0;
}
