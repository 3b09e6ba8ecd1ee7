/* SPDX-License-Identifier: BSD-3-Clause */
/* machine_lines.c - the cost of a cache line: in its own cache, from another core, and with many
 * readers. */
#include "machine.h"
#include "pinned.h"

#include <stdlib.h>
#include <string.h>

enum {
    TRIPS = 1000,
    STEPS = 20000,
    PAGE = 4096,
    STRIDE = PAGE + 3 * PINNED_LINE,
    MAX_READERS = 16
};

struct word {
    _Atomic uint64_t value;
};

/* Returns a line that is alone on its page; the first touch decides its home. */
static struct word *line_create(void)
{
    return aligned_alloc(PAGE, PAGE);
}

/* ---- one core ---- */

struct alone {
    double ns[PINNED_ROUNDS];
    double (*once)(struct word *line);
};

static double once_hit(struct word *line)
{
    uint64_t at = 0;

    atomic_store(&line->value, 0);
    double begin = pinned_ns();
    for (int i = 0; i < STEPS; i++)
        at = atomic_load_explicit(&line[at].value,
                                  memory_order_relaxed); /* each load depends on the previous one */
    return (pinned_ns() - begin + (double)at) / STEPS;
}

static double once_post(struct word *line)
{
    double begin = pinned_ns();

    for (uint64_t i = 0; i < STEPS; i++)
        atomic_store_explicit(&line->value, i, memory_order_release);
    return (pinned_ns() - begin) / STEPS;
}

static double once_add(struct word *line)
{
    double begin = pinned_ns();

    for (int i = 0; i < STEPS; i++)
        atomic_fetch_add(&line->value, 1);
    return (pinned_ns() - begin) / STEPS;
}

static void body_alone(void *arg, int thread)
{
    struct alone *a = arg;
    struct word *line = line_create();

    (void)thread;
    for (int r = 0; line && r < PINNED_ROUNDS; r++)
        a->ns[r] = a->once(line);
    free(line);
}

static double measure_alone(const struct measured *on, double (*once)(struct word *line),
                            const char *what, char note[MACHINE_NOTE])
{
    struct alone a = { .once = once };

    snprintf(note, MACHINE_NOTE, "measured: %s, median of %d times %d on core 0", what,
             PINNED_ROUNDS, STEPS);
    return pinned_run(on->os, 1, body_alone, &a) == 0 ? pinned_median(a.ns, PINNED_ROUNDS) : -1;
}

double measure_hit(const struct measured *on, int class, char note[MACHINE_NOTE])
{
    (void)class;
    return measure_alone(on, once_hit, "loads that depend on each other", note);
}

double measure_post(const struct measured *on, int class, char note[MACHINE_NOTE])
{
    (void)class;
    return measure_alone(on, once_post, "stores with release to one line", note);
}

double measure_add(const struct measured *on, int class, char note[MACHINE_NOTE])
{
    (void)class;
    return measure_alone(on, once_add, "additions to one line", note);
}

/* ---- two cores exchange a line ---- */

struct pair {
    struct pinned_meeting meeting;
    struct word *line; /* alone, or the first of two, STRIDE bytes apart */
    int toucher;       /* thread that touches the line first */
    double ns[PINNED_ROUNDS];
};

static void trip(struct word *line, int thread)
{
    for (int i = 0; i < TRIPS; i++)
        for (uint64_t want = (uint64_t)thread;
             !atomic_compare_exchange_strong(&line->value, &want, (uint64_t)!thread);
             want = (uint64_t)thread)
            pinned_pause();
}

static void touch_first(struct pair *p, int thread, size_t bytes)
{
    if (thread == p->toucher)
        memset(p->line, 0, bytes);
    pinned_meet(&p->meeting);
}

static void body_trips(void *arg, int thread)
{
    struct pair *p = arg;

    touch_first(p, thread, PAGE);
    for (int r = 0; thread < 2 && r < PINNED_ROUNDS; r++) {
        double begin = pinned_ns();
        trip(p->line, thread);
        if (thread == 0)
            p->ns[r] = (pinned_ns() - begin) / TRIPS / 2;
    }
}

/* Returns half of a round trip between two cores, of a line first touched by a third core, or by
 * the first (home -1).  Returns a negative number without threads. */
static double trips(const struct measured *on, int a, int b, int home)
{
    struct pair p = { .line = line_create(),
                      .toucher = home < 0 ? 0 : 2,
                      .meeting.threads = home < 0 ? 2 : 3 };
    const int cpus[3] = { on->os[a], on->os[b], home < 0 ? 0 : on->os[home] };
    double ns = p.line && pinned_run(cpus, p.meeting.threads, body_trips, &p) == 0
                    ? pinned_median(p.ns, PINNED_ROUNDS)
                    : -1;

    free(p.line);
    return ns;
}

/* Exchanges numbers through a single line: each thread waits for the other's number, and stores the
 * next number there, as in line.h. */
static void body_hops(void *arg, int thread)
{
    struct pair *p = arg;
    uint64_t value = 0;

    touch_first(p, thread, PAGE);
    for (int r = 0; r < PINNED_ROUNDS; r++) {
        double begin = pinned_ns();
        for (int i = 0; i < TRIPS; i++, value += 2) {
            uint64_t await = value + (thread == 0 ? 2 : 1);
            if (thread == 0)
                atomic_store_explicit(&p->line->value, value + 1, memory_order_release);
            while (atomic_load_explicit(&p->line->value, memory_order_acquire) < await)
                ;
            if (thread == 1)
                atomic_store_explicit(&p->line->value, value + 2, memory_order_release);
        }
        if (thread == 0)
            p->ns[r] = (pinned_ns() - begin) / TRIPS / 2;
    }
}

static double hops(const struct measured *on, int a, int b, int home)
{
    struct pair p = { .line = line_create(), .meeting.threads = 2 };
    const int cpus[2] = { on->os[a], on->os[b] };
    double ns =
        p.line && pinned_run(cpus, 2, body_hops, &p) == 0 ? pinned_median(p.ns, PINNED_ROUNDS) : -1;

    (void)home;
    free(p.line);
    return ns;
}

static struct word *word_of(struct word *first, int i)
{
    return first + (size_t)i * STRIDE / sizeof *first;
}

/* Posts in this thread's line, and polls the other's. */
static void flag_trip(struct pair *p, int thread, uint64_t value)
{
    if (thread == 0)
        atomic_store_explicit(&word_of(p->line, 0)->value, value, memory_order_release);
    while (atomic_load_explicit(&word_of(p->line, !thread)->value, memory_order_acquire) < value)
        pinned_pause();
    if (thread == 1)
        atomic_store_explicit(&word_of(p->line, 1)->value, value, memory_order_release);
}

static void body_flags(void *arg, int thread)
{
    struct pair *p = arg;
    uint64_t value = 0;

    touch_first(p, thread, (size_t)2 * STRIDE);
    for (int r = 0; r < PINNED_ROUNDS; r++) {
        double begin = pinned_ns();
        for (int i = 0; i < TRIPS; i++)
            flag_trip(p, thread, ++value);
        if (thread == 0)
            p->ns[r] = (pinned_ns() - begin) / TRIPS / 2;
    }
}

/* Returns the median over some pairs of the class. */
static double over_pairs(const struct measured *on, int class,
                         double (*between)(const struct measured *on, int a, int b, int home),
                         const char *what, char note[MACHINE_NOTE])
{
    int pair[MACHINE_PAIRS][2], pairs = measured_pairs(on, class, pair);
    double ns[MACHINE_PAIRS], low, high;

    for (int i = 0; i < pairs; i++)
        ns[i] = between(on, pair[i][0], pair[i][1], -1);
    double median = pinned_median(ns, pairs);
    low = ns[0], high = ns[pairs - 1];
    if (pairs > 1)
        snprintf(note, MACHINE_NOTE, "measured: %s, %d pairs of cores, %.1f to %.1f", what, pairs,
                 low, high);
    else
        snprintf(note, MACHINE_NOTE, "measured: %s, cores %d and %d", what, pair[0][0], pair[0][1]);
    return low < 0 ? -1 : median;
}

double measure_transfer(const struct measured *on, int class, char note[MACHINE_NOTE])
{
    return over_pairs(on, class, trips, "compare-and-swap round trip / 2", note);
}

double measure_hop(const struct measured *on, int class, char note[MACHINE_NOTE])
{
    return over_pairs(on, class, hops, "a word that two cores poll and store to in turn", note);
}

/* Returns how much longer a flag takes than a line that two cores exchange: the flag's reader has a
 * copy, which must be invalidated before a store is visible. */
static double flags(const struct measured *on, int a, int b, int home)
{
    struct pair p = { .line = aligned_alloc(PAGE, 3 * PAGE), .meeting.threads = 2 };
    const int cpus[2] = { on->os[a], on->os[b] };
    double hop = p.line && pinned_run(cpus, 2, body_flags, &p) == 0
                     ? pinned_median(p.ns, PINNED_ROUNDS)
                     : -1;
    double transfer = trips(on, a, b, home);

    free(p.line);
    return hop < 0 || transfer < 0 ? -1 : hop > transfer ? hop - transfer : 0;
}

double measure_revoke(const struct measured *on, int class, char note[MACHINE_NOTE])
{
    return over_pairs(on, class, flags, "round trip / 2 of two flags, less that of one line", note);
}

/* ---- many cores read one line ---- */

struct readers {
    struct pinned_meeting meeting;
    struct word *line;
    struct {
        _Alignas(PINNED_LINE) double ns;
    } seen[MAX_READERS + 1];
    double ns[PINNED_ROUNDS];
};

/* Returns the time from the first reader to the last, divided by the number of readers less one. */
static double spread(const struct readers *r)
{
    double first = r->seen[1].ns, last = first;

    for (int i = 2; i < r->meeting.threads; i++) {
        first = r->seen[i].ns < first ? r->seen[i].ns : first;
        last = r->seen[i].ns > last ? r->seen[i].ns : last;
    }
    return (last - first) / (r->meeting.threads - 2);
}

static void body_readers(void *arg, int thread)
{
    struct readers *r = arg;

    for (uint64_t round = 0; round < PINNED_ROUNDS; round++) {
        pinned_meet(&r->meeting);
        if (thread == 0) {
            for (double begin = pinned_ns(); pinned_ns() < begin + 2000;) /* all poll then */
                pinned_pause();
            atomic_store_explicit(&r->line->value, round + 1, memory_order_release);
        } else {
            while (atomic_load_explicit(&r->line->value, memory_order_acquire) <= round)
                pinned_pause();
            r->seen[thread].ns = pinned_ns();
        }
        pinned_meet(&r->meeting);
        if (thread == 0)
            r->ns[round] = spread(r);
    }
}

/* Measures an owner and as many readers of the class as possible, with one core per reader. */
double measure_serve(const struct measured *on, int class, char note[MACHINE_NOTE])
{
    struct readers r = { .line = line_create(), .meeting.threads = 1 };
    int cpus[MAX_READERS + 1] = { on->os[0] };
    double ns = -1;

    for (int c = 1; c < on->m->cores && r.meeting.threads <= MAX_READERS; c++)
        if (machine_class(on->m, 0, c) == class)
            cpus[r.meeting.threads++] = on->os[c];
    if (r.line && r.meeting.threads > 2) {
        atomic_store(&r.line->value, 0);
        ns = pinned_run(cpus, r.meeting.threads, body_readers, &r) == 0
                 ? pinned_middle(r.ns, PINNED_ROUNDS)
                 : -1;
        snprintf(note, MACHINE_NOTE,
                 "measured: from the first to the last of %d readers, each but one",
                 r.meeting.threads - 1);
    } else {
        snprintf(note, MACHINE_NOTE, "there is one reader of that class");
    }
    free(r.line);
    return ns;
}

/* ---- a line whose home is elsewhere ---- */

double measure_home(const struct measured *on, int class, char note[MACHINE_NOTE])
{
    const struct sim_machine *m = on->m;
    int other = -1, away = -1;

    for (int c = m->cores - 1; c > 0; c--)
        other = m->node[c] == m->node[0] ? c : other;
    for (int node = m->nodes - 1; node >= 0; node--)
        away = machine_away(m, 0, node) == class ? m->first[node] : away;
    if (other < 0 || away < 0)
        return snprintf(note, MACHINE_NOTE, "no two cores of a node, and a node so far away"), -1;
    double here = trips(on, 0, other, -1), there = trips(on, 0, other, away);
    snprintf(note, MACHINE_NOTE,
             "measured: compare-and-swap between cores 0 and %d, the line touched first by core "
             "%d: %.1f; by themselves: %.1f",
             other, away, there, here);
    return here < 0 || there < 0 ? -1 : there > here ? there - here : 0;
}
