/* SPDX-License-Identifier: BSD-3-Clause */
/* machine_stores.c - stores to lines that other cores have read: many in a row, and one line with
 * many readers. */
#include "machine.h"
#include "pinned.h"

#include <stdlib.h>
#include <string.h>

enum {
    PAGE = 4096,
    STRIDE = PAGE + 3 * PINNED_LINE,
    MANY = 192,
    FEW = 16,
    ROUNDS = 101,
    MAX_SHARERS = 64
};

struct stores {
    struct pinned_meeting meeting;
    unsigned char *first; /* the first of the lines, STRIDE bytes apart */
    int lines, sharers;   /* this many threads after thread 0 read them */
    bool alone;           /* each store is complete before the next */
    double ns[ROUNDS];
};

static _Atomic uint64_t *word_of(const struct stores *s, int i)
{
    return (_Atomic uint64_t *)(void *)(s->first + (size_t)i * STRIDE);
}

/* Stores in thread 0 after the others have read.  All stores are complete before the clock is
 * read. */
static void body_stores(void *arg, int thread)
{
    struct stores *s = arg;

    if (thread == 0)
        memset(s->first, 0, (size_t)MANY * STRIDE);
    for (uint64_t r = 0; r < ROUNDS; r++) {
        uint64_t sum = 0;
        pinned_meet(&s->meeting);
        for (int i = 0; thread > 0 && thread <= s->sharers && i < s->lines; i++)
            sum += atomic_load_explicit(word_of(s, i), memory_order_acquire);
        pinned_keep(&sum);
        pinned_meet(&s->meeting);
        if (thread > 0)
            continue;
        double begin = pinned_ns();
        for (int i = 0; i < s->lines; i++) {
            atomic_store_explicit(word_of(s, i), r + 1, memory_order_release);
            if (s->alone)
                atomic_thread_fence(memory_order_seq_cst);
        }
        atomic_thread_fence(memory_order_seq_cst);
        s->ns[r] = pinned_ns() - begin;
    }
}

/* Returns the ns of the stores to `lines` lines that the sharers have read, or a negative number
 * without threads. */
static double stores_ns(const int *cpus, int threads, int lines, int sharers, bool alone)
{
    struct stores s = { .meeting.threads = threads,
                        .first = aligned_alloc(PAGE, (size_t)MANY * STRIDE / PAGE * PAGE + PAGE),
                        .lines = lines,
                        .sharers = sharers,
                        .alone = alone };
    double ns = s.first && pinned_run(cpus, threads, body_stores, &s) == 0
                    ? pinned_middle(s.ns, ROUNDS)
                    : -1;

    free(s.first);
    return ns;
}

/* Measures with pairs of cores: the time of all stores less the time of half of them. */
double measure_store_gap(const struct measured *on, int class, char note[MACHINE_NOTE])
{
    int pair[MACHINE_PAIRS][2], pairs = measured_pairs(on, class, pair);
    double ns[MACHINE_PAIRS];

    for (int i = 0; i < pairs; i++) {
        const int cpus[2] = { on->os[pair[i][0]], on->os[pair[i][1]] };
        double all = stores_ns(cpus, 2, MANY, 1, false),
               half = stores_ns(cpus, 2, MANY / 2, 1, false);
        ns[i] = all < 0 || half < 0 ? -1 : (all - half) / (MANY - MANY / 2);
    }
    snprintf(note, MACHINE_NOTE,
             "measured: stores %d to %d of a row, each, to lines that the other core has read, %d "
             "pairs of cores",
             MANY / 2 + 1, MANY, pairs);
    return pinned_median(ns, pairs);
}

/* Measures stores to lines read by all other cores, less stores to lines read by a single core. */
double measure_revoke_each(const struct measured *on, int class, char note[MACHINE_NOTE])
{
    int sharers = on->m->cores - 1 < MAX_SHARERS ? on->m->cores - 1 : MAX_SHARERS;

    (void)class;
    if (sharers < 2)
        return snprintf(note, MACHINE_NOTE, "two readers and a writer need three cores"), -1;
    double all = stores_ns(on->os, sharers + 1, FEW, sharers, true),
           one = stores_ns(on->os, sharers + 1, FEW, 1, true);
    snprintf(note, MACHINE_NOTE,
             "measured: stores to lines that %d cores have read, less one, each", sharers);
    return all < 0 || one < 0 ? -1 : all > one ? (all - one) / FEW / (sharers - 1) : 0;
}
