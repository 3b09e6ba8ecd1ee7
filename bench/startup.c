/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * startup.c - the cost of an MPI program's start, for startup.py: each rank prints a line with its
 * processor time and the time from MPI_Init to the end of its first collectives, in ms, and its
 * private memory at this time, in KB.
 */
#include "startup.h"

#include <mpi.h>

int main(int argc, char **argv)
{
    double begin = ms(CLOCK_MONOTONIC), data[8] = { 0 }, sum[8];
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Bcast(data, 8, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    MPI_Allreduce(data, sum, 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    double wall = ms(CLOCK_MONOTONIC) - begin, cpu = ms(CLOCK_PROCESS_CPUTIME_ID);
    printf("startup %d %.3f %.3f %ld\n", rank, cpu, wall, private_kb());
    fflush(stdout);
    MPI_Finalize();
    return 0;
}
