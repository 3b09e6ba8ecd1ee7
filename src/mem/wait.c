/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * wait.c - what a rank does when a flag is not posted after the first polls.  It stays awake for a
 * while, in which it polls, yields and calls the host's progress.  Then it sleeps.
 *
 * poll, yield and sleep do only what their names say.  adaptive combines them:
 *
 *  - While awake, the rank polls and yields in turn, or only yields if oversubscribed.  Yielding is
 *    best while all ranks are in the collective.
 *  - How long the rank stays awake is learned from past waits in calls of about the same size
 *    (habit_of).  Short waits, which cost nothing, are ignored.  The rank stays awake for twice the
 *    usual length of a wait if that is less than LONG_NS.  If waits last longer, it stays awake for
 *    as long as a sleep and a wake cost (SHORT_NS), because a wake is then a small part of the
 *    wait.
 *  - A yield that takes TURN_NS means that another process used the processor and does not wait:
 *    another program, or a rank that computes.  Each further yield would lose a time slice, while a
 *    sleeper gets the processor back as soon as it wakes.  So the rank does not yield for as long
 *    as the yield took, and four times as long after each further loss in a row.  It then sleeps
 *    after SHORT_NS, or at once if oversubscribed.
 *  - A yield may hand the processor to nobody: the scheduler gives each session or container a
 *    share of its own, and a launcher may give each rank one.  The ranks of a processor then wait
 *    for each other's time slices.  So an oversubscribed rank tries now and then to sleep after
 *    SHORT_NS, and keeps to this while its waits are shorter.
 *  - In a team of several nodes (policy->spans_nodes) a wait lasts at least as long as the messages
 *    between nodes.  If yields take more than SHARED_NS of late, other processes use this
 *    processor, and the rank that the messages are for may be one of them.  So a rank that waits in
 *    shared memory then sleeps at once.  It yields first in one of WAITS_PER_YIELD waits, to learn
 *    whether the processor is still shared (lab/evidence/short-nodes.csv).
 *
 * A sleep is bounded (policy->sleep_ns, at most 1 ms) and is followed by progress calls.  So a post
 * needs no fence before its load of `sleepers`, and a rank that sleeps still obeys MPI's progress
 * rule.
 *
 * Futexes are 32 bits wide, so ranks sleep on the low half of the counter.  The futexes are not
 * PRIVATE, because the waker maps the counter at another address.
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

enum { POLLS_PER_TURN = 64, TURNS_PER_PROGRESS = 8 };

enum {
    SHORT_NS = 20000,         /* approximate cost of a sleep and a wake */
    START_NS = 200000,        /* time awake before anything is learned */
    LONG_NS = 1000000,        /* a wake does not lengthen such a wait by much */
    TURN_NS = 500000,         /* other waiting ranks give the processor back sooner */
    LOSSES_MAX = 4,           /* the rank does not yield for at most 4^LOSSES_MAX times what was
                                 lost */
    BUSY_MAX_NS = 1000000000, /* longest such time */
    STOP_NS = 100000000,      /* not a lost processor: the whole program, or machine, was stopped */
    SHARED_NS = 5000,         /* another process ran in a longer yield */
    WAITS_PER_YIELD = 16,     /* a rank that sleeps learns nothing about yields */
    TRIED = 8,                /* waits longer than SHORT_NS that a trial takes, */
    PAUSES = 7,               /* at most TRIED << PAUSES of them from a trial to the next */
    LEARN = 4                 /* a new value counts for 1 / LEARN */
};

/*
 * Returns the habit for calls of this size.  Calls of different sizes are learned separately.  In
 * and right after large calls, other ranks compute for a whole time slice.  With a shared habit,
 * small calls that follow would sleep for up to BUSY_MAX_NS, for nothing
 * (lab/evidence/habits.csv).
 */
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

/* Sleeps once for a bounded time, or not at all if the value is already there. */
static void sleep_on(struct mem *m, _Atomic uint64_t *f, uint64_t min)
{
    struct mem_home *home = (struct mem_home *)((uintptr_t)f & m->home_mask);
    struct timespec max = { .tv_sec = 0, .tv_nsec = (long)m->policy->sleep_ns };

    KEEP_ERRNO(); /* futex fails if the value has changed or the time is over */
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

/* Polls the flag: many times while polling is welcome, and once if another process needs the
 * processor. */
static bool poll_flag(struct mem *m, _Atomic uint64_t *f, uint64_t min)
{
    unsigned polls = m->policy->polls != 0 ? POLLS_PER_TURN : 1;

    for (; polls != 0; polls--) {
        if (there(f, min))
            return true;
        mem_pause();
    }
    return false;
}

/* Each progress call moves one piece of a pending message.  With one call per sleep, the message
 * would move at a thousandth of its speed. */
enum { PROGRESS_PER_SLEEP = 32 };

bool hud_mem_cpu_is_shared(const struct mem *m)
{
    return m->policy->way == MEM_ADAPTIVE && m->policy->spans_nodes &&
           habit_of(m)->yield_ns > SHARED_NS;
}

/* Reports whether a wait sleeps in its first turn because the processor is shared. */
static bool leaves(struct mem_habit *habit)
{
    habit->slept = (habit->slept + 1) % WAITS_PER_YIELD;
    return habit->slept != 0;
}

/* Returns the next action of `adaptive`, at time `now` of a wait that began at begin_ns. */
static enum mem_way adapt(const struct mem *m, int64_t begin_ns, int64_t now, unsigned n)
{
    struct mem_habit *habit = habit_of(m);
    bool oversubscribed = m->policy->polls == 0, busy = now < habit->busy_until_ns;

    if (hud_mem_cpu_is_shared(m) && (n > 0 || leaves(habit)))
        return MEM_SLEEP;
    int64_t awake_ns = busy                            ? (oversubscribed ? 0 : SHORT_NS)
                       : oversubscribed && habit->soon ? SHORT_NS
                       : habit->awake_ns != 0          ? habit->awake_ns
                                                       : START_NS;

    if (now - begin_ns >= awake_ns)
        return MEM_SLEEP;
    return busy ? MEM_POLL : MEM_YIELD;
}

/* Returns what to do in the n-th turn.  Some turns of yielding are used for the host's progress. */
static enum mem_way choose(const struct mem *m, int64_t begin_ns, int64_t now, unsigned n)
{
    enum mem_way way = m->policy->way == MEM_ADAPTIVE ? adapt(m, begin_ns, now, n) : m->policy->way;
    unsigned per_progress = m->policy->polls != 0 ? 2 : TURNS_PER_PROGRESS;

    return way == MEM_YIELD && n % per_progress == per_progress - 1 ? MEM_POLL : way;
}

/* Carries out one turn and returns the time after the turn. */
static int64_t take_turn(const struct mem_wait *wait, enum mem_way way)
{
    struct mem *m = wait->m;

    if (way == MEM_YIELD) /* SHARED_NS applies to the yield alone, without the polls before it */
        return hud_mem_yield(m, m->policy->spans_nodes ? hud_mem_now_ns() : wait->now_ns);
    if (way == MEM_SLEEP) {
        if (wait->turns == 1 && m->policy->spans_nodes) /* the rank's own messages may be under
                                                           way */
            progress(m);
        sleep_on(m, wait->flag, wait->min);
        for (int i = 0; i < PROGRESS_PER_SLEEP && !poll_flag(m, wait->flag, wait->min); i++)
            progress(m);
    } else {
        progress(m);
    }
    return hud_mem_now_ns();
}

/* Compares waits in which the rank sleeps soon with waits in which it stays awake. */
static void compare(struct mem_habit *habit, int64_t waited_ns)
{
    bool trial = habit->soon != habit->kept;

    habit->sum_ns += waited_ns < LONG_NS ? waited_ns : LONG_NS;
    if (++habit->waits < (unsigned)TRIED << (trial ? 0 : habit->pause))
        return;
    habit->mean_ns[habit->soon] = habit->sum_ns / habit->waits;
    habit->sum_ns = 0;
    habit->waits = 0;
    if (!trial) {
        habit->soon = !habit->kept;
    } else if (5 * habit->mean_ns[habit->soon] < 4 * habit->mean_ns[habit->kept]) {
        habit->kept = habit->soon;
        habit->pause = 0;
    } else {
        habit->soon = habit->kept;
        habit->pause += habit->pause < PAUSES;
    }
}

/* Learns from a wait of this length. */
static void learn(const struct mem *m, int64_t waited_ns)
{
    struct mem_habit *habit = habit_of(m);
    int64_t was = habit->awake_ns != 0 ? habit->awake_ns : START_NS;
    int64_t wanted = waited_ns <= LONG_NS ? 2 * waited_ns : SHORT_NS;

    if (waited_ns <= SHORT_NS)
        return;
    if (m->policy->polls == 0)
        compare(habit, waited_ns);
    if (!habit->soon)
        habit->awake_ns = was + (wanted - was) / LEARN;
}

/* Learns from the duration of a yield. */
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

void hud_mem_wait_observe(struct mem_wait *wait, bool over)
{
    const struct mem_policy *policy = wait->m->policy;

    wait->observed++;
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

    if (poll_flag(m, wait->flag, wait->min))
        return true;
    enum mem_way way = choose(m, wait->begin_ns, wait->now_ns, wait->turns++);
    wait->now_ns = take_turn(wait, way);
    return false;
}

void hud_mem_wait_end(struct mem_wait *wait)
{
    learn(wait->m, wait->now_ns - wait->begin_ns);
}

void hud_mem_wait(struct mem *m, _Atomic uint64_t *f, uint64_t min, const char *file, int line)
{
    struct mem_wait wait = { .m = m, .flag = f, .min = min, .file = file, .line = line };

    if (m->policy->suspend) {
        m->policy->suspend(&wait, m->policy->suspend_arg);
        return;
    }
    KEEP_ERRNO(); /* the host's progress may change it */
    hud_mem_wait_begin(&wait);
    while (!hud_mem_wait_turn(&wait))
        if (__builtin_expect(wait.now_ns >= wait.due_ns, 0))
            hud_mem_wait_observe(&wait, false);
    if (__builtin_expect(wait.observed != 0, 0))
        hud_mem_wait_observe(&wait, true);
    hud_mem_wait_end(&wait);
}

void hud_mem_wake(_Atomic uint64_t *f)
{
    syscall(SYS_futex, low_half(f), FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}
