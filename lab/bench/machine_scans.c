/* SPDX-License-Identifier: BSD-3-Clause */
/* machine_scans.c - a core accesses many lines that others have written: dependent additions, loads
 * of lines of one core, and loads of lines of several cores in turn. */
#include "machine.h"
#include "pinned.h"

#include <stdlib.h>
#include <string.h>

/* Lines are on separate pages, and are used in an order that no prefetcher predicts. */
enum {
    STRIDE = MACHINE_PAGE + 3 * PINNED_LINE,
    SCAN = 192, /* more than a core has in flight at once */
    STEP = 29,  /* has no factor in common with SCAN */
    ROUNDS = 101,
    MAX_OWNERS = 8
};

struct scan {
    struct pinned_meeting meeting;
    unsigned char *first;
    _Atomic uint64_t *word[SCAN]; /* the order is that of use, because computing addresses by many
                                     instructions would keep later loads out of the core's window */
    double (*use)(const struct scan *s, int lines, uint64_t value);
    double ns[ROUNDS]; /* time per line */
};

static void find_words(struct scan *s)
{
    for (size_t i = 0; i < SCAN; i++)
        s->word[i] = (_Atomic uint64_t *)(void *)(s->first + i * STEP % SCAN * STRIDE);
}

/* Adds to each line; each addition depends on the result of the previous one. */
static double add_lines(const struct scan *s, int lines, uint64_t value)
{
    uint64_t at = 0;
    double begin = pinned_ns();

    for (int i = 0; i < lines; i++)
        at += 1 + atomic_fetch_add(s->word[at], 1) - value;
    pinned_keep(&at);
    return pinned_ns() - begin;
}

static double load_lines(const struct scan *s, int lines, uint64_t value)
{
    double begin = pinned_ns();

    for (int i = 0; i < lines; i++)
        while (atomic_load_explicit(s->word[i], memory_order_acquire) < value)
            pinned_pause();
    return pinned_ns() - begin;
}

/* Accesses in thread 0 the lines that the others have written in turn: half of them in a round, all
 * of them in the next.  The difference of both times has no overhead. */
static void body_scan(void *arg, int thread)
{
    struct scan *s = arg;
    int owners = s->meeting.threads - 1;
    double half = 0;

    if (thread == 0) {
        memset(s->first, 0, (size_t)SCAN * STRIDE);
        find_words(s);
    }
    pinned_meet(&s->meeting);
    for (uint64_t r = 0; r < 2 * ROUNDS; r++) {
        for (int i = thread - 1; thread > 0 && i < SCAN; i += owners)
            atomic_store_explicit(s->word[i], r + 1, memory_order_release);
        pinned_meet(&s->meeting);
        if (thread == 0 && r % 2 == 0)
            half = s->use(s, SCAN / 2, r + 1);
        else if (thread == 0)
            s->ns[r / 2] = (s->use(s, SCAN, r + 1) - half) / (SCAN - SCAN / 2);
        pinned_meet(&s->meeting);
    }
}

/* Returns the ns per line, for the first of these processors accessing lines of the others. */
static double scan_ns(const int *cpus, int threads,
                      double (*use)(const struct scan *s, int lines, uint64_t value))
{
    struct scan s = { .meeting.threads = threads,
                      .first = measured_buffer((size_t)SCAN * STRIDE),
                      .use = use };
    double ns =
        s.first && pinned_run(cpus, threads, body_scan, &s) == 0 ? pinned_middle(s.ns, ROUNDS) : -1;

    free(s.first);
    return ns;
}

/* Returns the median over some pairs of the class. */
static double over_pairs(const struct measured *on, int class, const char *what,
                         double (*use)(const struct scan *s, int lines, uint64_t value),
                         char note[MACHINE_NOTE])
{
    int pair[MACHINE_PAIRS][2], pairs = measured_pairs(on, class, pair);
    double ns[MACHINE_PAIRS];

    for (int i = 0; i < pairs; i++)
        ns[i] = scan_ns((const int[]){ on->os[pair[i][0]], on->os[pair[i][1]] }, 2, use);
    double median = pinned_median(ns, pairs);
    snprintf(note, MACHINE_NOTE,
             "measured: %s %d to %d of a row, each, %d pairs of cores, %.1f to %.1f", what,
             SCAN / 2 + 1, SCAN, pairs, ns[0], ns[pairs - 1]);
    return ns[0] < 0 ? -1 : median;
}

double measure_fetch_add(const struct measured *on, int class, char note[MACHINE_NOTE])
{
    return over_pairs(on, class, "additions to lines of the other core,", add_lines, note);
}

double measure_gap(const struct measured *on, int class, char note[MACHINE_NOTE])
{
    return over_pairs(on, class, "lines", load_lines, note);
}

double measure_scan_gap(const struct measured *on, int class, char note[MACHINE_NOTE])
{
    int cpus[MAX_OWNERS + 1] = { on->os[0] }, owners = 0;

    for (int core = 1; core < on->m->cores && owners < MAX_OWNERS; core++)
        if (machine_class(on->m, 0, core) == class)
            cpus[++owners] = on->os[core];
    if (owners < 2)
        return snprintf(note, MACHINE_NOTE, "there is one owner of that class"), -1;
    snprintf(note, MACHINE_NOTE, "measured: lines %d to %d of a row, each, of %d cores in turn",
             SCAN / 2 + 1, SCAN, owners);
    return scan_ns(cpus, owners + 1, load_lines);
}
