/* SPDX-License-Identifier: BSD-3-Clause */
/* machine_homes.c - the rate at which the home of a NUMA node serves requests for lines. */
#include "machine.h"
#include "pinned.h"

#include <stdlib.h>

enum { TRIPS = 1000, MAX_PAIRS = 64 };

static const double SLOWED = 1.25; /* factor of the time from which on pairs count as waiting for
                                      each other */

struct homes {
    struct pinned_meeting meeting;
    _Atomic uint64_t *line[MAX_PAIRS]; /* alone on its page; the home of all is thread 0's node */
    int pairs;                         /* active pairs */
    struct {
        _Alignas(PINNED_LINE) double ns[PINNED_ROUNDS];
    } of[MAX_PAIRS];
};

static double play(_Atomic uint64_t *line, uint64_t side)
{
    double begin = pinned_ns();

    for (int i = 0; i < TRIPS; i++)
        for (uint64_t want = side; !atomic_compare_exchange_strong(line, &want, !side); want = side)
            pinned_pause();
    return (pinned_ns() - begin) / TRIPS / 2;
}

/* Exchanges a line between threads 2 i and 2 i + 1. */
static void body_homes(void *arg, int thread)
{
    struct homes *h = arg;
    int pair = thread / 2;

    for (int i = 0; thread == 0 && i < h->meeting.threads / 2; i++)
        if ((h->line[i] = (void *)measured_buffer(MACHINE_PAGE)) != NULL)
            atomic_store(h->line[i], 0);
    pinned_meet(&h->meeting);
    for (int r = 0; r < PINNED_ROUNDS; r++) {
        pinned_meet(&h->meeting);
        double ns =
            pair < h->pairs && h->line[pair] ? play(h->line[pair], (uint64_t)(thread % 2)) : 0;
        if (thread % 2 == 0)
            h->of[pair].ns[r] = ns;
    }
    pinned_meet(&h->meeting);
    for (int i = 0; thread == 0 && i < h->meeting.threads / 2; i++)
        free((void *)(uintptr_t)h->line[i]);
}

/* Returns the ns of a hop of the slowest of `pairs` pairs at once, or a negative number without
 * threads. */
static double hop_ns(const int *cpus, int pairs)
{
    struct homes *h = aligned_alloc(PINNED_LINE, sizeof *h);
    double max = -1;

    if (!h)
        return -1;
    *h = (struct homes){ .meeting.threads = 2 * pairs, .pairs = pairs };
    if (pinned_run(cpus, 2 * pairs, body_homes, h) == 0)
        for (int i = 0; i < pairs; i++) {
            double ns = pinned_median(h->of[i].ns, PINNED_ROUNDS);
            max = ns > max ? ns : max;
        }
    free(h);
    return max;
}

/* Lists pairs of cores of core 0's node that are as far from each other as possible: the first and
 * the middle core, and so on.  Returns their number. */
static int list_pairs(const struct measured *on, int *cpus)
{
    int core[2 * MAX_PAIRS], cores = 0;

    for (int c = 0; c < on->m->cores && cores < 2 * MAX_PAIRS; c++)
        if (on->m->node[c] == on->m->node[0])
            core[cores++] = c;
    for (int i = 0; i < cores / 2; i++) {
        cpus[2 * i] = on->os[core[i]];
        cpus[2 * i + 1] = on->os[core[i + cores / 2]];
    }
    return cores / 2;
}

/* Measures all pairs at once.  If they wait for the home, a hop of each takes the time in which the
 * home serves a request of each; a pair alone takes less. */
double measure_home_busy(const struct measured *on, int class, char note[MACHINE_NOTE])
{
    int cpus[2 * MAX_PAIRS], pairs = list_pairs(on, cpus);
    double alone = 0;

    (void)class;
    if (pairs < 2)
        return snprintf(note, MACHINE_NOTE, "two pairs of cores of a node need four cores"), -1;
    for (int i = 0; i < pairs && alone >= 0; i++) {
        double ns = hop_ns(cpus + 2 * (size_t)i, 1);
        alone = ns < 0 ? -1 : ns > alone ? ns : alone;
    }
    double together = hop_ns(cpus, pairs);
    if (alone < 0 || together < 0)
        return snprintf(note, MACHINE_NOTE, "no threads could be had"), -1;
    if (together < SLOWED * alone)
        return snprintf(note, MACHINE_NOTE,
                        "%d pairs of cores of a node do not slow each other down", pairs),
               -1;
    snprintf(note, MACHINE_NOTE,
             "measured: %d pairs of cores that send a line to and fro, a hop of the slowest, over "
             "the pairs",
             pairs);
    return together / pairs;
}
