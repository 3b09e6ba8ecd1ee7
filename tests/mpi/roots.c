/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * roots.c - an erroneous program: after some correct broadcasts the last rank passes another root
 * than the others. It must not wait forever without a message.
 *
 *     roots COUNT
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { RIGHT = 20 };

int main(int argc, char **argv)
{
    int rank, size, count = argc > 1 ? atoi(argv[1]) : 10;

    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int *data = calloc((size_t)count, sizeof *data);
    if (!data)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int i = 0; i < RIGHT; i++)
        MPI_Bcast(data, count, MPI_INT, i % size, MPI_COMM_WORLD);
    MPI_Bcast(data, count, MPI_INT, rank == size - 1 ? 1 : 0, MPI_COMM_WORLD);
    printf("rank %d is through\n", rank);
    fflush(stdout);
    free(data);
    MPI_Finalize();
    return 0;
}
