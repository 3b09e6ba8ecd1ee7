/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shots.h - how long one call takes on ranks of one node.  Knows no MPI: the ranks meet in a page
 * of shared memory that the caller brings.
 *
 * A single shot: all ranks wait for the same moment of CLOCK_MONOTONIC (one node, one clock), make
 * one call, look at the clock; the slowest rank's end counts.  A shot for which a rank came too
 * late is not counted, and the pause before the next one grows until all are in time.  Where ranks
 * outnumber the processors they yield while they wait.  Every shot carries data that no earlier one
 * had, and what each rank got is verified.  Beside each figure stands the line transfer between the
 * processors of rank 0 and the last rank, before and after (line.h).
 *
 * Between shots nothing but the page is used, so what is measured is not disturbed by the means of
 * measuring it.  All ranks call the same functions with the same arguments, and get the same
 * results.
 */
#ifndef BENCH_SHOTS_H
#define BENCH_SHOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SHOTS_MAX = 100000, SHOTS_SHIFT = -1 };

struct shots_page; /* shared by all ranks, all zero at first, aligned to 128 bytes */

size_t shots_page_bytes(int ranks);

/* One rank's part. */
struct shots {
    struct shots_page *page;
    int rank, ranks;
    bool oversubscribed;    /* more ranks than processors they may use */
    void (*progress)(void); /* called now and then in a long wait, as a rank may still owe others
                               progress of its messages; NULL: none */
    uint64_t round, line_count;
    int64_t pause_ns; /* before a shot, that the latest measurement needed */
};

/* One call, as the measured function sees it. */
struct shots_call {
    void *in, *out; /* of shots_buffer_bytes each, of the largest size; a broadcast uses `out` */
    size_t bytes;
    int rank, ranks, root;
    uint64_t stamp; /* no two shots have the same */
    void *host;     /* whatever the call needs */
};

/* A collective: a row in the table of a measuring program. */
struct shots_coll {
    const char *name;
    enum {
        SHOTS_NO_BYTES,
        SHOTS_MESSAGE,
        SHOTS_PER_PAIR
    } moves; /* what `bytes` are of: nothing, a rank's message, what each has for each */
    int (*call)(const struct shots_call *c);  /* what is measured; nonzero: it refused */
    void (*fill)(const struct shots_call *c); /* before the start; NULL: nothing is sent */
    long (*wrong)(
        const struct shots_call *c); /* afterwards: bytes that are not what they must be */
};

struct shots_plan {
    int64_t figure_ns; /* time to spend on a figure ... */
    int min, max,
        warmups; /* ... but at least and at most so many shots, after some that are not counted */
    int root;    /* or SHOTS_SHIFT: the next rank in every shot */
    int loop;    /* calls back to back that make one sample; 0: single shots */
    int64_t skew_ns; /* ranks arrive at random within it ... */
    bool one_late;   /* ... or one of them, in turn, by all of it; counted from the last arrival */
    bool cold;       /* buffers are thrown out of the caches first */
};

struct shots_figure {
    double *took_ns;                      /* the caller's, of plan->most; sorted */
    double line_before_ns, line_after_ns; /* -1: could not be measured */
    double cpu_ns; /* processor time of a rank inside the call, mean; only with skew, else 0 */
    int shots, late;
    long wrong, refused;
};

/* Of a rank's `in` and `out`. */
size_t shots_buffer_bytes(const struct shots_coll *coll, size_t bytes, int ranks);

/* Ranks wait for a shot's moment by reading the clock, where they are not oversubscribed: they
 * enter it within one reading of each other, which takes so long. */
double shots_start_ns(void);

/* Fills *s in and finds out whether the ranks are oversubscribed. */
void shots_join(struct shots *s, struct shots_page *page, int rank, int ranks,
                void (*progress)(void));

/* call->out and in, bytes, host are the caller's; the rest is filled in; call->stamp goes on
 * counting. */
void shots_measure(struct shots *s, const struct shots_plan *plan, const struct shots_coll *coll,
                   struct shots_call *call, struct shots_figure *f);

/*
 * The same of several hosts in turn, A B C A B C: a figure each, all with the same line transfer.
 * A turn is a shot of each, up to 256 KB two, of which the second counts.  Times and numbers of the
 * plan are each one's.
 */
void shots_compare(struct shots *s, const struct shots_plan *plan, const struct shots_coll *coll,
                   struct shots_call *call, void *const *host, int count, struct shots_figure *f);

/* Of sorted figures: the value below which `percent` of them lie; 0 of none. */
double shots_percentile(const struct shots_figure *f, double percent);

#endif
