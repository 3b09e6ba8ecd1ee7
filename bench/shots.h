/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shots.h - measures how long one call takes on ranks of one node.  It uses no MPI: the ranks
 * synchronise through a page of shared memory that the caller provides.
 *
 * In a single shot all ranks wait for the same moment of CLOCK_MONOTONIC (one node, one clock),
 * make one call and read the clock.  The end of the slowest rank counts.  A shot for which a rank
 * was late is not counted, and the pause before the next shot grows until all ranks are in time.
 * Oversubscribed ranks yield while they wait, or sleep where a yield hands the processor to nobody
 * (idle.h).  Every shot has new data, and the result of each rank is verified.  Each figure has the
 * line transfer between the processors of rank 0 and of the farthest rank, before and after
 * (line.h), or, if oversubscribed, between the first and the last processor that the ranks may use.
 *
 * Between shots only the page is used, so that the measurement does not disturb the measured
 * calls.  All ranks call the same functions with the same arguments, and get the same results.
 */
#ifndef BENCH_SHOTS_H
#define BENCH_SHOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SHOTS_MAX = 100000, SHOTS_SHIFT = -1, LINE_PEERS = 7 };

/* How a call is made.  A nonblocking call is started and completed at once. */
enum shots_way { SHOTS_BLOCKING, SHOTS_NONBLOCKING, SHOTS_PERSISTENT };

struct shots_page; /* shared by all ranks, all zero at first, aligned to 128 bytes */

size_t shots_page_bytes(int ranks);

/* A rank's part. */
struct shots {
    struct shots_page *page;
    int rank, ranks;
    bool oversubscribed;    /* more ranks than processors they may use */
    bool naps;              /* ranks that are oversubscribed sleep between calls (idle.h) */
    int partner;            /* measures the line with rank 0 if oversubscribed; 0: there is none */
    void (*progress)(void); /* called from time to time in a long wait, because other ranks may need
                               progress of this rank's messages; or NULL */
    uint64_t round, line_count[LINE_PEERS];
    int64_t pause_ns; /* pause before a shot, as the latest measurement needed it */
};

/* A call, as passed to the measured function. */
struct shots_call {
    void *in, *out; /* each of shots_buffer_bytes of the largest size; a broadcast uses `out` */
    size_t bytes;
    int rank, ranks, root;
    int kind;       /* the row's kind */
    bool integers;  /* the elements of a reduction are integers of 64 bits, not doubles */
    uint64_t stamp; /* different in each shot */
    void *host;     /* the caller's data for the call */
};

/* A collective: a row in the table of a measuring program. */
struct shots_coll {
    const char *name;
    enum {
        SHOTS_NO_BYTES,
        SHOTS_MESSAGE,
        SHOTS_PER_PAIR
    } moves; /* meaning of `bytes`: nothing, a rank's message, or a block per pair */
    int (*call)(const struct shots_call *c);   /* the measured call; nonzero: refused */
    void (*fill)(const struct shots_call *c);  /* fills send buffers before the start; or NULL */
    long (*wrong)(const struct shots_call *c); /* number of wrong bytes in the result */
    int kind;                                  /* argument of call, fill and wrong */
};

struct shots_plan {
    int64_t figure_ns;     /* time to spend on a figure ... */
    int min, max, warmups; /* ... but at least `min` and at most `max` shots, after `warmups`
                              uncounted shots */
    int root;              /* a rank; SHOTS_SHIFT: the next rank in every shot */
    int loop;              /* back-to-back calls per sample; 0: single shots */
    int64_t skew_ns;       /* ranks arrive at random within this time ... */
    bool one_late;    /* ... or one rank, in turn, arrives late by this time.  Times count from the
                         last arrival */
    bool cold;        /* buffers are flushed from the caches first */
    int64_t limit_ns; /* time after which the comparison ends with its current shots; 0: no limit */
    bool unlabelled;  /* the line transfer is not measured */
};

struct shots_figure {
    double *took_ns;                      /* the caller's array [plan->max]; sorted */
    double line_before_ns, line_after_ns; /* -1: not measured, or not measurable */
    double cpu_ns; /* mean processor time of a rank inside the call; only with skew, otherwise 0 */
    int shots, late;
    long wrong, refused;
};

/* Returns the size of a rank's `in`, and of its `out`. */
size_t shots_buffer_bytes(const struct shots_coll *coll, size_t bytes, int ranks);

/* Returns the time of a reading of the clock.  Ranks that are not oversubscribed wait for a shot's
 * moment by reading the clock, so they enter the shot within this time of each other. */
double shots_start_ns(void);

/* Initialises *s and finds out whether the ranks are oversubscribed. */
void shots_join(struct shots *s, struct shots_page *page, int rank, int ranks,
                void (*progress)(void));

/* Measures a collective.  The caller sets call->in, out, bytes and host; the rest is set here.
 * call->stamp continues to count. */
void shots_measure(struct shots *s, const struct shots_plan *plan, const struct shots_coll *coll,
                   struct shots_call *call, struct shots_figure *f);

/*
 * Measures several hosts in turn, A B C A B C: a figure per host, all with the same line transfer.
 * In a turn each host has a sample.  With buffers of up to 256 KB, uncounted shots come first, so
 * that the caches are as after the host's own calls, and a turn has more samples; there is a single
 * shot of each kind if ranks are oversubscribed, and no uncounted shot if calls loop.  Times and
 * numbers of the plan are per host, limit_ns is for all together.
 */
void shots_compare(struct shots *s, const struct shots_plan *plan, const struct shots_coll *coll,
                   struct shots_call *call, void *const *host, int count, struct shots_figure *f);

/* Returns the value below which `percent` of the sorted times are, or 0 if there are none. */
double shots_percentile(const struct shots_figure *f, double percent);

#endif
