/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * machine_bytes.c - how fast a core copies from each place; how fast all cores together read from a
 * cache, a node or another socket; how fast a core reduces.
 */

#include "machine.h"
#include "pinned.h"

#include "huddle/huddle.h"

#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

enum { PAGE = 4096, USUAL_PRIVATE = 256 << 10, MEMORY_BYTES = 8 << 20 };

unsigned char *measured_buffer(size_t bytes)
{
    return aligned_alloc(PAGE, (bytes + PAGE - 1) / PAGE * PAGE);
}

size_t measured_share(const struct measured *on)
{
    return (on->private_bytes ? on->private_bytes : USUAL_PRIVATE) / 4 / PAGE * PAGE;
}

/* ---- one core copies data that another core, or itself, has left in a cache or in memory ---- */

struct source {
    struct pinned_meeting meeting;
    size_t bytes, target_bytes;
    size_t after_bytes; /* written after the source, so that it leaves the nearest cache */
    int passes;         /* over the same bytes */
    bool flushed;       /* the source is flushed to memory first */
    double gbps[PINNED_ROUNDS];
    unsigned char *from;
};

/* Copies a buffer piece by piece into one that stays in the core's own cache.  Returns GB/s. */
static double copy_in(unsigned char *target, const struct source *s)
{
    double begin = pinned_ns();

    for (int pass = 0; pass < s->passes; pass++)
        for (size_t at = 0; at < s->bytes; at += s->target_bytes) {
            memcpy(target, s->from + at,
                   s->bytes - at < s->target_bytes ? s->bytes - at : s->target_bytes);
            pinned_keep(target);
        }
    return (double)s->bytes * s->passes / (pinned_ns() - begin);
}

/* Thread 0 reads what the last thread has written. */
static void body_source(void *arg, int thread)
{
    struct source *s = arg;
    bool writes = thread == s->meeting.threads - 1;
    unsigned char *target = measured_buffer(s->target_bytes);

    if (writes)
        s->from = measured_buffer(s->bytes + s->after_bytes);
    for (int r = 0; r < PINNED_ROUNDS; r++) {
        if (writes && s->from)
            memset(s->from, r, s->bytes + s->after_bytes);
        if (writes && s->from && s->flushed)
            pinned_flush(s->from, s->bytes);
        pinned_meet(&s->meeting);
        if (thread == 0 && s->from && target)
            s->gbps[r] = copy_in(memset(target, 0, s->target_bytes), s);
        pinned_meet(&s->meeting);
    }
    free(target);
    if (writes)
        free(s->from);
}

/* More bytes than the nearest cache holds are in the private one behind it. */
static double from_source(const struct measured *on, int reader, int writer, size_t bytes,
                          bool flushed)
{
    bool near = bytes < on->nearest_bytes;
    struct source s = { .bytes = bytes,
                        .target_bytes = bytes < measured_share(on) ? bytes : measured_share(on),
                        .flushed = flushed };
    const int cpus[2] = { on->os[reader], on->os[writer] };

    s.after_bytes = near ? 0 : on->nearest_bytes;
    s.passes = near && reader == writer ? 64 : 1; /* one pass would be too short to measure */
    s.meeting.threads = reader == writer ? 1 : 2;
    return pinned_run(cpus, s.meeting.threads, body_source, &s) == 0
               ? pinned_median(s.gbps, PINNED_ROUNDS)
               : -1;
}

/* The median of copies of `bytes` over pairs of cores of a class, or by core 0 from itself. */
static double from_class(const struct measured *on, int class, size_t bytes,
                         char note[MACHINE_NOTE])
{
    int pair[MACHINE_PAIRS][2] = { { 0, 0 } },
        pairs = class == MACHINE_OWN ? 1 : measured_pairs(on, class, pair);
    double gbps[MACHINE_PAIRS];

    for (int i = 0; i < pairs; i++)
        gbps[i] = from_source(on, pair[i][0], pair[i][1], bytes, false);
    snprintf(note, MACHINE_NOTE,
             "measured: copies of %zu KB that %s has written, into its own cache", bytes >> 10,
             class == MACHINE_OWN ? "the core" : "the other core");
    return pinned_median(gbps, pairs);
}

double measure_cached(const struct measured *on, int class, char note[MACHINE_NOTE])
{
    return from_class(on, class, measured_share(on), note);
}

double measure_nearest(const struct measured *on, int class, char note[MACHINE_NOTE])
{
    size_t bytes = on->nearest_bytes / 4 / PAGE * PAGE;

    if (bytes == 0)
        return snprintf(note, MACHINE_NOTE, "no nearer cache is known"), -1;
    return from_class(on, class, bytes, note);
}

double measure_memory(const struct measured *on, int class, char note[MACHINE_NOTE])
{
    int toucher = measured_toucher(on, class);

    snprintf(note, MACHINE_NOTE,
             "measured: copies of %d MB that are in no cache, to %zu KB in its own cache",
             MEMORY_BYTES >> 20, measured_share(on) >> 10);
    return toucher < 0 ? -1 : from_source(on, 0, toucher, MEMORY_BYTES, true);
}

/* ---- non-temporal stores ---- */

#if defined(__x86_64__)
struct stream {
    size_t from_bytes, bytes;
    double gbps[PINNED_ROUNDS];
};

static void copy_stream(unsigned char *to, const unsigned char *from, size_t bytes)
{
    for (size_t i = 0; i < bytes; i += sizeof(__m128i))
        _mm_stream_si128((__m128i *)(void *)(to + i),
                         _mm_load_si128((const __m128i *)(const void *)(from + i)));
    _mm_sfence();
}

static void body_stream(void *arg, int thread)
{
    struct stream *p = arg;
    unsigned char *from = measured_buffer(p->from_bytes), *to = measured_buffer(p->bytes);

    (void)thread;
    for (int r = 0; r < PINNED_ROUNDS && from && to; r++) {
        memset(to, r, p->bytes);
        pinned_flush(to, p->bytes);
        memset(from, r, p->from_bytes);
        double begin = pinned_ns();
        for (size_t at = 0; at + p->from_bytes <= p->bytes; at += p->from_bytes)
            copy_stream(to + at, from, p->from_bytes);
        p->gbps[r] = (double)(p->bytes / p->from_bytes * p->from_bytes) / (pinned_ns() - begin);
    }
    free(from);
    free(to);
}

double measure_past(const struct measured *on, int class, char note[MACHINE_NOTE])
{
    struct stream p = { .from_bytes = measured_share(on), .bytes = MEMORY_BYTES };

    (void)class;
    snprintf(note, MACHINE_NOTE,
             "measured: non-temporal copies of %zu KB in its own cache to %d MB",
             p.from_bytes >> 10, MEMORY_BYTES >> 20);
    return pinned_run(on->os, 1, body_stream, &p) == 0 ? pinned_median(p.gbps, PINNED_ROUNDS) : -1;
}
#else
double measure_past(const struct measured *on, int class, char note[MACHINE_NOTE])
{
    (void)on, (void)class, (void)note;
    return -1; /* huddle has no such copies on this processor */
}
#endif

/* ---- many cores read at once ---- */

struct readers {
    struct pinned_meeting meeting;
    size_t bytes; /* that each thread reads */
    bool flushed;
    int *toucher; /* [threads] the thread that touches a thread's buffer first */
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

/* All bytes over the time from the first start to the last end, in GB/s. */
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

/* Thread i on core[i] reads what toucher[i] has touched.  Returns GB/s, or -1: no threads. */
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

/* Lists all cores of core 0's unit; unit_of NULL: all cores.  Returns their number. */
static int list_cores(const struct sim_machine *m, const int *unit_of, int *core)
{
    int count = 0;

    for (int c = 0; c < m->cores; c++)
        if (!unit_of || unit_of[c] == unit_of[0])
            core[count++] = c;
    return count;
}

static double read_own(const struct measured *on, const int *unit_of, size_t bytes, bool flushed,
                       int *threads)
{
    int *core = calloc((size_t)on->m->cores, sizeof *core),
        *toucher = calloc((size_t)on->m->cores, sizeof *toucher);
    double gbps = -1;

    if (core && toucher) {
        *threads = list_cores(on->m, unit_of, core);
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
    int threads = 0;
    double gbps = read_own(on, on->m->node, MEMORY_BYTES, true, &threads);

    (void)class;
    snprintf(note, MACHINE_NOTE,
             "measured: %d cores of a node read %d MB each that are in no cache", threads,
             MEMORY_BYTES >> 20);
    return gbps;
}

/* A size above a core's own caches and below the shared one; 0: no such size. */
static size_t beyond_own(const struct measured *on, int threads)
{
    size_t max = on->shared_bytes / (size_t)(2 * threads),
           bytes = 4 * (on->private_bytes ? on->private_bytes : USUAL_PRIVATE);

    return (bytes < max ? bytes : max) / PAGE * PAGE;
}

double measure_from_shared(const struct measured *on, int class, char note[MACHINE_NOTE])
{
    size_t bytes = beyond_own(on, 1);

    (void)class;
    if (bytes == 0)
        return snprintf(note, MACHINE_NOTE, "no shared cache is known"), -1;
    snprintf(note, MACHINE_NOTE,
             "measured: copies of %zu KB that the core has written, to %zu KB in its own cache",
             bytes >> 10, measured_share(on) >> 10);
    return from_source(on, 0, 0, bytes, false);
}

double measure_shared(const struct measured *on, int class, char note[MACHINE_NOTE])
{
    int threads = on->m->cores, level = on->m->caches.shared_level;
    size_t bytes = beyond_own(on, threads);

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

/* Each core of one socket reads what a core of another one has touched. */
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
        toucher[threads] = threads; /* it reads its own memory; its bytes are subtracted below */
        gbps = read_together(on, core, toucher, threads + 1, MEMORY_BYTES, true) * threads /
               (threads + 1);
    }
    snprintf(note, MACHINE_NOTE,
             "measured: %d cores of a socket read %d MB each of another's memory", readers,
             MEMORY_BYTES >> 20);
    free(core);
    free(toucher);
    return gbps;
}

/* ---- a reduction ---- */

struct reduction {
    size_t bytes;
    double gbps[PINNED_ROUNDS];
};

static void body_reduction(void *arg, int thread)
{
    enum { TIMES = 20 };
    struct reduction *red = arg;
    double *a = (void *)measured_buffer(red->bytes), *b = (void *)measured_buffer(red->bytes);
    const void *sources[] = { a, b };
    struct hud_op op;

    (void)thread;
    if (!a || !b || hud_op_find(HUD_SUM, HUD_DOUBLE, &op) != HUD_OK)
        return;
    memset(a, 0, red->bytes);
    memset(b, 0, red->bytes);
    for (int r = 0; r < PINNED_ROUNDS; r++) {
        double begin = pinned_ns();
        for (int i = 0; i < TIMES; i++)
            op.combine(&op, a, sources, 2, red->bytes / sizeof *a);
        red->gbps[r] = 2.0 * (double)red->bytes * TIMES / (pinned_ns() - begin);
    }
    free(a);
    free(b);
}

double measure_reduce(const struct measured *on, int class, char note[MACHINE_NOTE])
{
    struct reduction red = { .bytes = measured_share(on) / 2 };

    (void)class;
    snprintf(note, MACHINE_NOTE,
             "measured: bytes read by huddle's sum of two vectors of %zu KB of doubles",
             red.bytes >> 10);
    return pinned_run(on->os, 1, body_reduction, &red) == 0 ? pinned_median(red.gbps, PINNED_ROUNDS)
                                                            : -1;
}
