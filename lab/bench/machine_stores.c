/* SPDX-License-Identifier: BSD-3-Clause */
/* machine_stores.c - writes to lines that other cores have read: stores in a row, stores to lines
 * with many readers, copies, and the last reader's own. */
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

/* ---- copies ---- */

struct window {
    struct pinned_meeting meeting;
    size_t bytes;
    unsigned char *shared; /* thread 0's buffer */
    bool returned;         /* thread 1 copies out and returns the lines, instead of thread 0 in */
    double gbps[PINNED_ROUNDS];
};

/* Copies in pieces of the size of an L1 cache or less, and stores a byte to each source line. */
static void copy_and_return(unsigned char *to, unsigned char *from, size_t bytes)
{
    enum { PIECE = 1024, LINE = 64 };

    for (size_t at = 0; at + PIECE <= bytes; at += PIECE) {
        memcpy(to + at, from + at, PIECE);
        for (volatile unsigned char *line = from + at; line < from + at + PIECE; line += LINE)
            *line = *line;
    }
}

/* Copies in, copies out, and takes the time of the second copy in or of the copy out. */
static void body_window(void *arg, int thread)
{
    struct window *w = arg;
    unsigned char *own = measured_buffer(w->bytes);

    if (thread == 0)
        w->shared = measured_buffer(w->bytes);
    for (int r = 0; r < PINNED_ROUNDS; r++) {
        pinned_meet(&w->meeting);
        bool works = own && w->shared;
        if (works && thread == 0)
            memcpy(w->shared, memset(own, r, w->bytes), w->bytes);
        pinned_meet(&w->meeting);
        double begin = pinned_ns();
        if (works && thread == 1 && w->returned)
            copy_and_return(own, w->shared, w->bytes);
        else if (works && thread == 1)
            memcpy(own, w->shared, w->bytes);
        pinned_keep(own);
        if (thread == 1 && w->returned)
            w->gbps[r] = (double)w->bytes / (pinned_ns() - begin);
        pinned_meet(&w->meeting);
        begin = pinned_ns();
        if (works && thread == 0 && !w->returned)
            memcpy(w->shared, own, w->bytes);
        pinned_keep(w->shared);
        if (thread == 0 && !w->returned)
            w->gbps[r] = (double)w->bytes / (pinned_ns() - begin);
    }
    pinned_meet(&w->meeting);
    free(own);
    if (thread == 0)
        free(w->shared);
}

static double window_gbps(const struct measured *on, int class, bool returned)
{
    int pair[MACHINE_PAIRS][2], pairs = measured_pairs(on, class, pair);
    double gbps[MACHINE_PAIRS];

    for (int i = 0; i < pairs; i++) {
        const int cpus[2] = { on->os[pair[i][0]], on->os[pair[i][1]] };
        struct window w = { .meeting.threads = 2,
                            .bytes = measured_share(on),
                            .returned = returned };
        gbps[i] =
            pinned_run(cpus, 2, body_window, &w) == 0 ? pinned_median(w.gbps, PINNED_ROUNDS) : -1;
    }
    return pinned_median(gbps, pairs);
}

double measure_retake(const struct measured *on, int class, char note[MACHINE_NOTE])
{
    snprintf(note, MACHINE_NOTE,
             "measured: copies from its own cache into %zu KB that the other core has read",
             measured_share(on) >> 10);
    return window_gbps(on, class, false);
}

double measure_return(const struct measured *on, int class, char note[MACHINE_NOTE])
{
    snprintf(note, MACHINE_NOTE,
             "measured: copies of %zu KB that the other core has written, and a byte of each line "
             "stored",
             measured_share(on) >> 10);
    return window_gbps(on, class, true);
}
