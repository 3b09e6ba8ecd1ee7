/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pi.c - an ordinary MPI program in C: pi by numerical integration, with a broadcast and a sum in
 * each step.  The program does not depend on huddle.
 *
 *     mpicc -O2 examples/pi.c -o pi -lm
 *     huddle run --stats -- mpirun -np 4 ./pi
 */
#include <mpi.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { STEPS = 12 };

/* Returns this rank's part of the integral of 4 / (1 + x^2) over 0..1. */
static double part(int intervals, int rank, int size)
{
    double width = 1.0 / intervals, sum = 0;

    for (int i = rank; i < intervals; i += size) {
        double x = width * (i + 0.5);
        sum += 4 / (1 + x * x);
    }
    return width * sum;
}

int main(int argc, char **argv)
{
    double pi = 0, error;
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int step = 0; step < STEPS; step++) {
        int intervals = rank == 0 ? 100 << step : 0;
        double mine;
        MPI_Bcast(&intervals, 1, MPI_INT, 0, MPI_COMM_WORLD);
        mine = part(intervals, rank, size);
        MPI_Allreduce(&mine, &pi, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    error = fabs(pi - acos(-1));
    if (rank == 0)
        printf("pi is %.10f, error %.1e\n", pi, error);
    MPI_Finalize();
    return error < 1e-10 ? EXIT_SUCCESS : EXIT_FAILURE;
}
