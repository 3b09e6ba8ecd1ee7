/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * later_teams.c - the program that bench/later_teams.py runs.
 *
 *   later_teams              the process's first collective, which sets up a team; then
 *                            communicators that are made, used once and freed, one after the other
 *   later_teams allgathers   instead of both, two allgathers of the bytes that a set-up exchanges
 *
 * Rank 0 prints times in us, of the slowest rank: "first", and "later" with the median and the
 * tenth percentile.  Built by each MPI's compiler wrapper.
 */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TIMES = 100, WARM = 10, MAX_RANKS = 256 };
enum {
    MEMBER_BYTES = 1280
}; /* HELLO_BYTES of src/core/slice/hello.h, which no MPI's wrapper includes */

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void use_a_communicator(void)
{
    double one = 1, sum;
    MPI_Comm twin;

    MPI_Comm_dup(MPI_COMM_WORLD, &twin);
    MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, twin);
    MPI_Comm_free(&twin);
}

static void exchange_twice(void)
{
    static char own[MEMBER_BYTES], all[MAX_RANKS * MEMBER_BYTES];

    for (int i = 0; i < 2; i++)
        MPI_Allgather(own, sizeof own, MPI_CHAR, all, sizeof own, MPI_CHAR, MPI_COMM_WORLD);
}

/* Returns the time of the work, from a common start, so that a late rank does not count. */
static double us_of(void (*work)(void))
{
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = MPI_Wtime();
    work();
    return 1e6 * (MPI_Wtime() - begin);
}

/* Synchronises the ranks by messages, because no collective may be used. */
static void meet(void)
{
    int rank, ranks;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int step = 1; step < ranks; step *= 2)
        MPI_Sendrecv(NULL, 0, MPI_CHAR, (rank + step) % ranks, 0, NULL, 0, MPI_CHAR,
                     (rank + ranks - step) % ranks, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static double slowest_of(double us)
{
    double slowest;

    MPI_Reduce(&us, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    return slowest;
}

static void print(const char *name, double median, double tenth)
{
    int rank;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        printf("%s %.2f %.2f\n", name, median, tenth);
}

/* Measures the process's first collectives. */
static void measure_first(void (*work)(void), const char *name)
{
    meet();
    meet(); /* the first messages take longer */
    double begin = MPI_Wtime();
    work();
    double us = slowest_of(1e6 * (MPI_Wtime() - begin));
    print(name, us, us);
}

static void measure(void (*work)(void), const char *name)
{
    static double us[TIMES];

    for (int i = 0; i < WARM; i++)
        work();
    for (int i = 0; i < TIMES; i++)
        us[i] = us_of(work);
    for (int i = 0; i < TIMES; i++)
        us[i] = slowest_of(us[i]);
    qsort(us, TIMES, sizeof *us, by_value);
    print(name, us[TIMES / 2], us[TIMES / 10]);
}

static void sum_up(void)
{
    double one = 1, sum;

    MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    int ranks;

    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks > MAX_RANKS)
        MPI_Abort(MPI_COMM_WORLD, 1);
    if (argc > 1 && strcmp(argv[1], "allgathers") == 0) {
        measure_first(exchange_twice, "first");
        measure(exchange_twice, "later");
    } else {
        measure_first(sum_up, "first");
        measure(use_a_communicator, "later");
    }
    MPI_Finalize();
    return 0;
}
