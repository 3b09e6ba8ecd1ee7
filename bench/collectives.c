/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * collectives.c - how long one barrier or broadcast takes, in any MPI.
 *
 *   collectives [--bytes 8,4096,...] [--figure-ms 40] [--least 15] [--most 2000]
 *
 * Sizes are multiples of 8, so that every byte is compared.
 *
 * Single shots: all ranks wait for the same moment of CLOCK_MONOTONIC (one node, one clock), make one call, and the slowest rank's end counts.
 * Each broadcast carries bytes that no earlier one had, and every rank compares all of them.  A shot for which a rank came too late is not
 * counted; the pause before the next grows until all are in time.  The median over the shots is the figure; beside it stands the line transfer
 * between two of the ranks' processors, before and after (line.h).  Rank 0 writes JSON on standard output.  Exit status 1: wrong bytes.
 *
 * Besides the measured call the ranks meet in MPI_Allreduce only, so that what is measured is the same with and without huddle.
 */
#include "line.h"

#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SIZES = 64, MOST_SHOTS = 100000, PAUSE_NS = 20000, MOST_PAUSE_NS = 20000000, LINE_NS = 40000000 };
enum { PATIENCE = 20 }; /* times the time for a figure, for the least number of shots on a busy machine */

struct bench {
    int rank, ranks, crowded; /* crowded: more ranks than processors, so waiting yields */
    int64_t figure_ns;        /* time to spend on a figure */
    int least, most;          /* shots */
    uint64_t *data;           /* of the largest size */
    uint64_t stamp;           /* of the last message; the same on all ranks */
    long wrong;               /* words that differed, this rank */
    struct line *line;
    uint64_t line_count;
};

struct figure {
    double median_ns, least_ns, line_before_ns, line_after_ns;
    int shots, late;
};

static int64_t max_of(int64_t mine)
{
    int64_t all;

    MPI_Allreduce(&mine, &all, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    return all;
}

/* Returns nonzero if the moment had passed already. */
static int wait_for(const struct bench *b, int64_t when_ns)
{
    int late = clock_ns() > when_ns;

    while (clock_ns() < when_ns)
        if (b->crowded)
            sched_yield();
    return late;
}

static uint64_t word_of(uint64_t stamp, size_t i)
{
    return (stamp << 32) + i;
}

static void check(struct bench *b, size_t bytes)
{
    size_t words = bytes / sizeof *b->data;

    for (size_t i = 0; i < words; i++)
        b->wrong += b->data[i] != word_of(b->stamp, i);
}

/* One call at the given moment.  Returns when the slowest rank was done; *late: somebody missed the moment. */
static int64_t shoot(struct bench *b, long bytes, int64_t when_ns, int64_t *late)
{
    b->stamp++;
    for (size_t i = 0; b->rank == 0 && bytes > 0 && i < (size_t)bytes / sizeof *b->data; i++)
        b->data[i] = word_of(b->stamp, i);
    int64_t missed = wait_for(b, when_ns);
    if (bytes < 0)
        MPI_Barrier(MPI_COMM_WORLD);
    else
        MPI_Bcast(b->data, (int)bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
    int64_t end = clock_ns();
    if (bytes > 0)
        check(b, (size_t)bytes);
    *late = max_of(missed);
    return max_of(end);
}

/* Ranks 0 and 1 measure while the others sleep.  The same value on all ranks; -1: not measured. */
static double line_now(struct bench *b)
{
    int64_t until = max_of(clock_ns()) + LINE_NS;
    double ns = -1;

    if (b->rank < 2)
        ns = line_measure(b->line, b->rank, &b->line_count, until);
    int64_t done = max_of(b->rank < 2 ? (int64_t)(ns * 1000) : INT64_MIN);
    return done < 0 ? -1 : (double)done / 1000;
}

static int by_value(const void *a, const void *b)
{
    const double *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

/* bytes -1: a barrier. */
static void measure(struct bench *b, long bytes, struct figure *f)
{
    static double took[MOST_SHOTS];
    int64_t pause = PAUSE_NS, late, begin, now;
    int warm = 3, tries = 0;

    *f = (struct figure){ .line_before_ns = line_now(b) };
    now = begin = max_of(clock_ns());
    while (f->shots < b->most && tries < 2 * b->most && now - begin < b->figure_ns * (f->shots < b->least ? PATIENCE : 1)) {
        int64_t when = max_of(clock_ns()) + pause;
        now = shoot(b, bytes, when, &late);
        if (late) {
            f->late++;
            pause = pause * 3 / 2 < MOST_PAUSE_NS ? pause * 3 / 2 : MOST_PAUSE_NS;
        } else if (warm > 0)
            warm--;
        else
            took[f->shots++] = (double)(now - when);
        tries++;
    }
    f->line_after_ns = line_now(b);
    if (f->shots == 0)
        return;
    qsort(took, (size_t)f->shots, sizeof *took, by_value);
    f->median_ns = took[f->shots / 2];
    f->least_ns = took[0];
}

static int parse_sizes(const char *list, long *sizes)
{
    int n = 0;

    while (*list && n < MOST_SIZES) {
        char *end;
        sizes[n++] = strtol(list, &end, 10);
        list = *end == ',' ? end + 1 : end;
        if (end == list && *end)
            return -1;
    }
    for (int i = 0; i < n; i++)
        if (sizes[i] < 0 || sizes[i] > INT_MAX || sizes[i] % 8 != 0)
            return -1;
    return n;
}

static void print_figure(const char *name, long bytes, const struct figure *f)
{
    printf("{\"collective\": \"%s\", \"bytes\": %ld, \"median_ns\": %.0f, \"least_ns\": %.0f, \"shots\": %d, \"late\": %d, "
           "\"line_before_ns\": %.1f, \"line_after_ns\": %.1f}",
           name, bytes, f->median_ns, f->least_ns, f->shots, f->late, f->line_before_ns, f->line_after_ns);
}

static struct line *shared_line(int rank, MPI_Win *window)
{
    MPI_Aint bytes;
    MPI_Comm node;
    void *base;
    int unit;

    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
    MPI_Win_allocate_shared(rank == 0 ? 2 * (MPI_Aint)sizeof(struct line) : 0, 1, MPI_INFO_NULL, node, &base, window);
    MPI_Win_shared_query(*window, 0, &bytes, &unit, &base);
    MPI_Comm_free(&node);
    struct line *line = (struct line *)(((uintptr_t)base + sizeof(struct line) - 1) & ~(uintptr_t)(sizeof(struct line) - 1));
    if (rank == 0)
        line_reset(line);
    max_of(0);
    return line;
}

static int run(struct bench *b, const long *sizes, int count)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    struct figure f;
    int length;

    MPI_Get_library_version(version, &length);
    version[strcspn(version, "\n,")] = '\0';
    for (char *c = version; *c; c++)
        *c = *c < ' ' ? ' ' : *c; /* MPICH's has a tab, which JSON does not allow */
    if (b->rank == 0)
        printf("{\"mpi\": \"%s\", \"ranks\": %d, \"figures\": [\n", version, b->ranks);
    for (int i = -1; i < count; i++) {
        measure(b, i < 0 ? -1 : sizes[i], &f);
        if (b->rank == 0) {
            printf(i < 0 ? "" : ",\n");
            print_figure(i < 0 ? "barrier" : "bcast", i < 0 ? 0 : sizes[i], &f);
        }
    }
    long wrong = (long)max_of(b->wrong);
    if (b->rank == 0)
        printf("\n], \"wrong\": %ld}\n", wrong);
    return wrong != 0;
}

int main(int argc, char **argv)
{
    struct bench b = { .figure_ns = 40000000, .least = 15, .most = 2000 };
    long sizes[MOST_SIZES] = { 8, 4096, 1048576 }, largest = 8;
    int count = 3, status = 2;
    cpu_set_t mine, all;
    MPI_Win window;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &b.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &b.ranks);
    for (int i = 1; i + 1 < argc; i += 2) {
        if (!strcmp(argv[i], "--bytes"))
            count = parse_sizes(argv[i + 1], sizes);
        else if (!strcmp(argv[i], "--figure-ms"))
            b.figure_ns = atoll(argv[i + 1]) * 1000000;
        else if (!strcmp(argv[i], "--least"))
            b.least = atoi(argv[i + 1]);
        else if (!strcmp(argv[i], "--most"))
            b.most = atoi(argv[i + 1]);
    }
    if (count < 0 || b.ranks < 2 || b.most < 1 || b.most > MOST_SHOTS) {
        fprintf(stderr, "usage: mpirun -np 2.. collectives [--bytes 8,4096,...] [--figure-ms N] [--least N] [--most N]\n");
        MPI_Abort(MPI_COMM_WORLD, status);
    }
    for (int i = 0; i < count; i++)
        largest = sizes[i] > largest ? sizes[i] : largest;
    sched_getaffinity(0, sizeof mine, &mine);
    MPI_Allreduce(&mine, &all, sizeof mine, MPI_BYTE, MPI_BOR, MPI_COMM_WORLD);
    b.crowded = b.ranks > CPU_COUNT(&all);
    b.data = calloc(1, (size_t)largest);
    b.line = shared_line(b.rank, &window);
    status = run(&b, sizes, count);
    free(b.data);
    MPI_Win_free(&window);
    MPI_Finalize();
    return status;
}
