/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * wait.c - what a rank does when a flag is not there after the first looks: stay awake for a while,
 * looking, yielding and moving the host's pending messages; then sleep.
 *
 * poll, yield and sleep do only what they are named after.  adaptive is for all that is in between:
 *
 *   - Awake, it looks and yields by turns, or only yields where ranks outnumber processors.  To
 *     yield is best while all ranks are in the collective.
 *   - How long it stays awake is learned from past waits in calls of about that size (habit_of).
 *     Short waits, which cost nothing, are left out.  It is twice what they last while that is less
 *     than LONG_NS.  Where they last longer, it is as long as a sleep and its wake cost (SHORT_NS):
 *     a wake is then a small part of the wait.
 *   - A yield that takes TURN_NS means that another process used the processor, one that does not
 *     wait: another program, or a rank that computes.  Each further yield would lose a time slice,
 *     while a sleeper gets the processor back as soon as it wakes.  So the rank does not yield for
 *     as long as was lost, and four times as long at each further loss in a row.  It sleeps after
 *     SHORT_NS, or at once where ranks outnumber processors.
 *   - In a team of several nodes (policy->spans_nodes) a wait lasts at least as long as their
 *     messages.  If yields take SHARED_NS of late, others use this processor, and the rank that the
 *     messages are for may be one of them.  So a rank that waits in shared memory sleeps at once.
 *     It yields first in one of WAITS_PER_YIELD waits, to learn whether the processor is still
 *     shared (docs/evidence/short-nodes.csv).
 *
 * A sleep is bounded (policy->sleep_ns, 1 ms at most) and followed by progress calls: so a post
 * needs no fence before its look at `sleepers`, and MPI's progress rule holds for a rank that
 * sleeps.
 *
 * Futexes are 32 bits wide: ranks sleep on the low half of the counter, not PRIVATE (the waker maps
 * it elsewhere).
 */
#define _GNU_SOURCE
#include "mem/kept_errno.h"
#include "mem/mem.h"

#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { LOOKS_PER_TURN = 64, TURNS_PER_PROGRESS = 8 };

enum {
    SHORT_NS = 20000,         /* about what a sleep and its wake cost */
    START_NS = 200000,        /* awake, before anything is learned */
    LONG_NS = 1000000,        /* a wait that a wake does not lengthen by much */
    TURN_NS = 500000,         /* other waiting ranks give the processor back sooner */
    LOSSES_MAX = 4,           /* 4^n times what was lost is the longest, */
    BUSY_MAX_NS = 1000000000, /* and this */
    STOP_NS = 100000000,      /* not a lost processor: the whole program, or machine, stood still */
    SHARED_NS = 5000,         /* in a longer yield another process ran */
    WAITS_PER_YIELD = 16,     /* where sleeps leave nothing to learn from */
    LEARN = 4                 /* a new wait counts for a quarter */
};

/* Calls of unlike sizes teach apart.  In and right after large ones other ranks work for a time
 * slice on end; small ones that follow would sleep for up to BUSY_MAX_NS, for nothing
 * (docs/evidence/habits.csv). */
static struct mem_habit *habit_of(const struct mem *m)
{
    enum { SMALL = 4096, MEDIUM = 65536 };

    return &m->team->habit[(m->bytes > SMALL) + (m->bytes > MEDIUM)];
}

static uint32_t *low_half(_Atomic uint64_t *f)
{
    return (uint32_t *)(uintptr_t)f + (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? 1 : 0);
}

static bool there(_Atomic uint64_t *f, uint64_t min)
{
    return (int64_t)(mem_peek_word(f) - min) >= 0;
}

static void progress(const struct mem *m)
{
    if (m->policy->progress)
        m->policy->progress(m->policy->arg);
}

/* One bounded sleep, or none if the value changes first. */
static void sleep_on(struct mem *m, _Atomic uint64_t *f, uint64_t min)
{
    struct mem_home *home = (struct mem_home *)((uintptr_t)f & m->home_mask);
    struct timespec max = { .tv_sec = 0, .tv_nsec = (long)m->policy->sleep_ns };

    KEEP_ERRNO(); /* the value has changed, or the time is over */
    atomic_fetch_add_explicit(&home->sleepers, 1, memory_order_seq_cst);
    uint64_t seen = mem_peek_word(f);
    if ((int64_t)(seen - min) < 0)
        syscall(SYS_futex, low_half(f), FUTEX_WAIT, (uint32_t)seen, &max, NULL, 0);
    atomic_fetch_sub_explicit(&home->sleepers, 1, memory_order_relaxed);
}

int64_t hud_mem_now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* A few looks: many while polling is welcome, one when somebody else needs the processor. */
static bool look(struct mem *m, _Atomic uint64_t *f, uint64_t min)
{
    unsigned looks = m->policy->polls != 0 ? LOOKS_PER_TURN : 1;

    for (; looks != 0; looks--) {
        if (there(f, min))
            return true;
        mem_pause();
    }
    return false;
}

/* A pending message moves by one piece a call; at one call a sleep it would move at a thousandth of
 * its speed. */
enum { PROGRESS_PER_SLEEP = 32 };

bool hud_mem_cpu_is_shared(const struct mem *m)
{
    return m->policy->way == MEM_ADAPTIVE && m->policy->spans_nodes &&
           habit_of(m)->yield_ns > SHARED_NS;
}

/* In the first turn of a wait: whether it sleeps for that. */
static bool leaves(struct mem_habit *habit)
{
    habit->slept = (habit->slept + 1) % WAITS_PER_YIELD;
    return habit->slept != 0;
}

/* What adaptive does, having waited so long. */
static enum mem_way adapt(const struct mem *m, int64_t begin_ns, int64_t now, unsigned n)
{
    struct mem_habit *habit = habit_of(m);
    bool oversubscribed = m->policy->polls == 0, busy = now < habit->busy_until_ns;

    if (hud_mem_cpu_is_shared(m) && (n > 0 || leaves(habit)))
        return MEM_SLEEP;
    int64_t awake_ns = busy                   ? (oversubscribed ? 0 : SHORT_NS)
                       : habit->awake_ns != 0 ? habit->awake_ns
                                              : START_NS;

    if (now - begin_ns >= awake_ns)
        return MEM_SLEEP;
    return busy ? MEM_POLL : MEM_YIELD;
}

/* What to do in the n-th turn; the turns of yielding are shared with the host's progress. */
static enum mem_way choose(const struct mem *m, int64_t begin_ns, int64_t now, unsigned n)
{
    enum mem_way way = m->policy->way == MEM_ADAPTIVE ? adapt(m, begin_ns, now, n) : m->policy->way;
    unsigned per_progress = m->policy->polls != 0 ? 2 : TURNS_PER_PROGRESS;

    return way == MEM_YIELD && n % per_progress == per_progress - 1 ? MEM_POLL : way;
}

/* The time after it. */
static int64_t take_turn(const struct mem_wait *wait, enum mem_way way)
{
    struct mem *m = wait->m;

    if (way == MEM_YIELD) /* only a span compares with SHARED_NS; the looks before would count */
        return hud_mem_yield(m, m->policy->spans_nodes ? hud_mem_now_ns() : wait->now_ns);
    if (way == MEM_SLEEP) {
        if (wait->turns == 1 && m->policy->spans_nodes) /* its own messages may be on their way */
            progress(m);
        sleep_on(m, wait->flag, wait->min);
        for (int i = 0; i < PROGRESS_PER_SLEEP && !look(m, wait->flag, wait->min); i++)
            progress(m);
    } else {
        progress(m);
    }
    return hud_mem_now_ns();
}

static void learn(struct mem_habit *habit, int64_t waited_ns)
{
    int64_t was = habit->awake_ns != 0 ? habit->awake_ns : START_NS;
    int64_t wanted = waited_ns <= LONG_NS ? 2 * waited_ns : SHORT_NS;

    if (waited_ns > SHORT_NS)
        habit->awake_ns = was + (wanted - was) / LEARN;
}

/* A yield has taken so long. */
static void judge(struct mem_habit *habit, int64_t now, int64_t took_ns)
{
    habit->yield_ns += ((took_ns < SHORT_NS ? took_ns : SHORT_NS) - habit->yield_ns) / LEARN;
    if (took_ns <= TURN_NS) {
        habit->losses = 0;
        return;
    }
    if (took_ns > STOP_NS)
        return;
    int64_t for_ns = took_ns * (1 << 2 * habit->losses);
    habit->busy_until_ns = now + (for_ns < BUSY_MAX_NS ? for_ns : BUSY_MAX_NS);
    habit->losses += habit->losses < LOSSES_MAX;
}

int64_t hud_mem_yield(struct mem *m, int64_t now_ns)
{
    sched_yield();
    int64_t after_ns = hud_mem_now_ns();
    judge(habit_of(m), after_ns, after_ns - now_ns);
    return after_ns;
}

void hud_mem_wait_show(struct mem_wait *wait, bool over)
{
    const struct mem_policy *policy = wait->m->policy;

    wait->looks++;
    wait->due_ns = wait->now_ns + MEM_WATCH_NS;
    if (policy->watch)
        policy->watch(wait, over, policy->watch_arg);
}

void hud_mem_wait_begin(struct mem_wait *wait)
{
    wait->begin_ns = wait->now_ns = hud_mem_now_ns();
    wait->due_ns = wait->begin_ns + MEM_WATCH_NS;
}

bool hud_mem_wait_turn(struct mem_wait *wait)
{
    struct mem *m = wait->m;

    if (look(m, wait->flag, wait->min))
        return true;
    enum mem_way way = choose(m, wait->begin_ns, wait->now_ns, wait->turns++);
    wait->now_ns = take_turn(wait, way);
    return false;
}

void hud_mem_wait_end(struct mem_wait *wait)
{
    learn(habit_of(wait->m), wait->now_ns - wait->begin_ns);
}

void hud_mem_wait(struct mem *m, _Atomic uint64_t *f, uint64_t min, const char *file, int line)
{
    struct mem_wait wait = { .m = m, .flag = f, .min = min, .file = file, .line = line };

    if (m->policy->suspend) {
        m->policy->suspend(&wait, m->policy->suspend_arg);
        return;
    }
    KEEP_ERRNO(); /* the host's progress */
    hud_mem_wait_begin(&wait);
    while (!hud_mem_wait_turn(&wait))
        if (__builtin_expect(wait.now_ns >= wait.due_ns, 0))
            hud_mem_wait_show(&wait, false);
    if (__builtin_expect(wait.looks != 0, 0))
        hud_mem_wait_show(&wait, true);
    hud_mem_wait_end(&wait);
}

void hud_mem_wake(_Atomic uint64_t *f)
{
    syscall(SYS_futex, low_half(f), FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}
