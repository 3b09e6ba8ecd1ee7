/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * machine_together.c - how fast all cores together read from a cache, a node or another socket.
 */

#include "machine.h"
#include "pinned.h"

#include <stdlib.h>
#include <string.h>

struct readers {
    struct pinned_meeting meeting;
    size_t bytes; /* bytes that each thread reads */
    bool flushed;
    int *toucher; /* [threads] the thread that first touches a thread's buffer */
    struct {
        _Alignas(PINNED_LINE) double begin_ns, end_ns;
        unsigned char *at;
        uint64_t sum;
    } * of;
    double gbps[PINNED_ROUNDS];
};

static uint64_t read_all(const unsigned char *at, size_t bytes)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < bytes; i += sizeof sum) {
        uint64_t word;
        memcpy(&word, at + i, sizeof word);
        sum += word;
    }
    return sum;
}

/* Returns all bytes divided by the time from the first start to the last end, in GB/s. */
static double together(const struct readers *c)
{
    double first = c->of[0].begin_ns, last = c->of[0].end_ns;

    for (int i = 1; i < c->meeting.threads; i++) {
        first = c->of[i].begin_ns < first ? c->of[i].begin_ns : first;
        last = c->of[i].end_ns > last ? c->of[i].end_ns : last;
    }
    return (double)c->bytes * c->meeting.threads / (last - first);
}

static void body_read(void *arg, int thread)
{
    struct readers *c = arg;

    for (int i = 0; i < c->meeting.threads; i++)
        if (c->toucher[i] == thread && (c->of[i].at = measured_buffer(c->bytes)) != NULL)
            memset(c->of[i].at, i + 1, c->bytes);
    pinned_meet(&c->meeting);
    for (int r = 0; r < PINNED_ROUNDS; r++) {
        if (c->of[thread].at && c->flushed)
            pinned_flush(c->of[thread].at, c->bytes);
        pinned_meet(&c->meeting);
        c->of[thread].begin_ns = pinned_ns();
        if (c->of[thread].at)
            c->of[thread].sum += read_all(c->of[thread].at, c->bytes);
        c->of[thread].end_ns = pinned_ns();
        pinned_meet(&c->meeting);
        if (thread == 0)
            c->gbps[r] = together(c);
    }
    pinned_meet(&c->meeting);
    free(c->of[thread].at);
}

/* Reads, in thread i on core[i], the buffer that thread toucher[i] has touched first.  Returns
 * GB/s, or -1 without threads. */
static double read_together(const struct measured *on, const int *core, int *toucher, int threads,
                            size_t bytes, bool flushed)
{
    struct readers c = {
        .meeting.threads = threads, .bytes = bytes, .flushed = flushed, .toucher = toucher
    };
    int *cpus = calloc((size_t)threads, sizeof *cpus);
    double gbps = -1;

    c.of = aligned_alloc(PINNED_LINE, (size_t)threads * sizeof *c.of);
    if (cpus && c.of) {
        memset((void *)c.of, 0, (size_t)threads * sizeof *c.of);
        for (int i = 0; i < threads; i++)
            cpus[i] = on->os[core[i]];
        gbps =
            pinned_run(cpus, threads, body_read, &c) == 0 ? pinned_max(c.gbps, PINNED_ROUNDS) : -1;
    }
    free(c.of);
    free(cpus);
    return gbps;
}

/* Lists all cores of core 0's unit, at most `max`, or of the machine if unit_of is NULL.  Returns
 * their number. */
static int list_cores(const struct sim_machine *m, const int *unit_of, int max, int *core)
{
    int count = 0;

    for (int c = 0; c < m->cores && count < max; c++)
        if (!unit_of || unit_of[c] == unit_of[0])
            core[count++] = c;
    return count;
}

/* Reads with at most *threads cores of core 0's unit, each its own memory.  Stores the number of
 * cores in *threads. */
static double read_own(const struct measured *on, const int *unit_of, size_t bytes, bool flushed,
                       int *threads)
{
    int *core = calloc((size_t)on->m->cores, sizeof *core),
        *toucher = calloc((size_t)on->m->cores, sizeof *toucher);
    double gbps = -1;

    if (core && toucher) {
        *threads = list_cores(on->m, unit_of, *threads, core);
        for (int i = 0; i < *threads; i++)
            toucher[i] = i;
        gbps = read_together(on, core, toucher, *threads, bytes, flushed);
    }
    free(core);
    free(toucher);
    return gbps;
}

double measure_node(const struct measured *on, int class, char note[MACHINE_NOTE])
{
    int threads = on->m->cores;
    double gbps = read_own(on, on->m->node, MACHINE_FAR, true, &threads);

    (void)class;
    snprintf(note, MACHINE_NOTE,
             "measured: %d cores of a node read %d MB each that are in no cache", threads,
             MACHINE_FAR >> 20);
    return gbps;
}

/* Measures with fewer than all cores of a node. */
double measure_streams(const struct measured *on, int streams, char note[MACHINE_NOTE])
{
    int threads = streams;
    double gbps = read_own(on, on->m->node, MACHINE_FAR, true, &threads);

    snprintf(note, MACHINE_NOTE,
             "measured: %d cores of a node read %d MB each that are in no cache", threads,
             MACHINE_FAR >> 20);
    return gbps;
}

double measure_shared(const struct measured *on, int class, char note[MACHINE_NOTE])
{
    int threads = on->m->cores, level = on->m->caches.shared_level;
    size_t bytes = measured_beyond(on, threads);

    (void)class;
    if (bytes == 0)
        return snprintf(note, MACHINE_NOTE, "no shared cache is known"), -1;
    double gbps =
        read_own(on, level < 0 ? NULL : on->m->unit + (size_t)level * (size_t)on->m->cores, bytes,
                 false, &threads);
    snprintf(note, MACHINE_NOTE, "measured: %d cores read %zu KB each, again and again", threads,
             bytes >> 10);
    return gbps;
}

/* Measures the cores of a socket that read memory of another socket. */
double measure_socket(const struct measured *on, int class, char note[MACHINE_NOTE])
{
    const struct sim_machine *m = on->m;
    int *core = calloc((size_t)m->cores, sizeof *core),
        *toucher = calloc((size_t)m->cores, sizeof *toucher);
    int readers = 0, threads = 0;
    double gbps = -1;

    (void)class;
    for (int c = 0; core && toucher && c < m->cores; c++)
        if (m->socket[c] == m->socket[0])
            core[readers++] = c;
    for (int c = m->cores - 1; core && toucher && c >= 0 && threads == 0; c--)
        if (m->socket[c] != m->socket[0])
            core[threads = readers] = c;
    for (int i = 0; i < threads; i++)
        toucher[i] = threads;
    if (threads > 0) {
        toucher[threads] = threads; /* this thread reads its own memory; its bytes are subtracted
                                       below */
        gbps = read_together(on, core, toucher, threads + 1, MACHINE_FAR, true) * threads /
               (threads + 1);
    }
    snprintf(note, MACHINE_NOTE,
             "measured: %d cores of a socket read %d MB each of another's memory", readers,
             MACHINE_FAR >> 20);
    free(core);
    free(toucher);
    return gbps;
}
