/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * machine_bytes.c - how fast a core copies from each place, and how fast it reduces.
 */

#include "machine.h"
#include "pinned.h"

#include "huddle/huddle.h"

#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

/* ---- one core copies data that another core, or itself, has left in a cache or in memory ---- */

struct source {
    struct pinned_meeting meeting;
    size_t bytes, target_bytes;
    size_t after_bytes; /* written after the source, to remove the source from the nearest cache */
    int passes;         /* passes over the same bytes */
    bool flushed;       /* the source is flushed to memory first */
    double gbps[PINNED_ROUNDS];
    unsigned char *from;
};

/* Copies a buffer piece by piece into a target which stays in the core's own cache.  Returns
 * GB/s. */
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

/* Measures in thread 0 how fast the bytes written by the last thread are copied. */
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

/* Measures copies between two cores.  Bytes beyond the size of the nearest cache are in the private
 * cache behind it. */
static double from_source(const struct measured *on, int reader, int writer, size_t bytes,
                          bool flushed)
{
    bool near = bytes < on->nearest_bytes;
    struct source s = { .bytes = bytes,
                        .target_bytes = bytes < measured_share(on) ? bytes : measured_share(on),
                        .flushed = flushed };
    const int cpus[2] = { on->os[reader], on->os[writer] };

    s.after_bytes = near ? 0 : on->nearest_bytes;
    s.passes = near && reader == writer ? 64 : 1; /* a single pass would be too short to measure */
    s.meeting.threads = reader == writer ? 1 : 2;
    return pinned_run(cpus, s.meeting.threads, body_source, &s) == 0
               ? pinned_median(s.gbps, PINNED_ROUNDS)
               : -1;
}

/* Returns the median of copies of `bytes` over pairs of cores of a class, or by core 0 from its own
 * cache. */
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
    size_t bytes = on->nearest_bytes / 4 / MACHINE_PAGE * MACHINE_PAGE;

    if (bytes == 0)
        return snprintf(note, MACHINE_NOTE, "no nearer cache is known"), -1;
    return from_class(on, class, bytes, note);
}

double measure_from_shared(const struct measured *on, int class, char note[MACHINE_NOTE])
{
    size_t bytes = measured_beyond(on, 1);

    (void)class;
    if (bytes == 0)
        return snprintf(note, MACHINE_NOTE, "no shared cache is known"), -1;
    snprintf(note, MACHINE_NOTE,
             "measured: copies of %zu KB that the core has written, to %zu KB in its own cache",
             bytes >> 10, measured_share(on) >> 10);
    return from_source(on, 0, 0, bytes, false);
}

double measure_memory(const struct measured *on, int class, char note[MACHINE_NOTE])
{
    int toucher = measured_toucher(on, class);

    snprintf(note, MACHINE_NOTE,
             "measured: copies of %d MB that are in no cache, to %zu KB in its own cache",
             MACHINE_FAR >> 20, measured_share(on) >> 10);
    return toucher < 0 ? -1 : from_source(on, 0, toucher, MACHINE_FAR, true);
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

double measure_nontemporal(const struct measured *on, int class, char note[MACHINE_NOTE])
{
    struct stream p = { .from_bytes = measured_share(on), .bytes = MACHINE_FAR };

    (void)class;
    snprintf(note, MACHINE_NOTE,
             "measured: non-temporal copies of %zu KB in its own cache to %d MB",
             p.from_bytes >> 10, MACHINE_FAR >> 20);
    return pinned_run(on->os, 1, body_stream, &p) == 0 ? pinned_median(p.gbps, PINNED_ROUNDS) : -1;
}
#else
double measure_nontemporal(const struct measured *on, int class, char note[MACHINE_NOTE])
{
    (void)on, (void)class, (void)note;
    return -1; /* huddle has no such copies on this processor */
}
#endif

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
