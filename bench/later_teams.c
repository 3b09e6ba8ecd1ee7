/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * later_teams.c - what bench/later_teams.py runs: communicators that are made, used once and freed,
 * in turn.  Rank 0 prints the median time of that in us, each time the slowest rank's, and the time
 * that a tenth of them are below.  Built by each MPI's compiler wrapper.
 */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>

enum { TIMES = 100, WARM = 10 };

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* From a common start, so that a late rank does not count. */
static double once(void)
{
    double one = 1, sum;
    MPI_Comm twin;

    MPI_Barrier(MPI_COMM_WORLD);
    double begin = MPI_Wtime();
    MPI_Comm_dup(MPI_COMM_WORLD, &twin);
    MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, twin);
    MPI_Comm_free(&twin);
    return 1e6 * (MPI_Wtime() - begin);
}

int main(int argc, char **argv)
{
    static double us[TIMES], slowest[TIMES];
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < WARM; i++)
        once();
    for (int i = 0; i < TIMES; i++)
        us[i] = once();
    MPI_Reduce(us, slowest, TIMES, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        qsort(slowest, TIMES, sizeof *slowest, by_value);
        printf("later_teams %.2f %.2f\n", slowest[TIMES / 2], slowest[TIMES / 10]);
    }
    MPI_Finalize();
    return 0;
}
