/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mismatched_blocks.c - an erroneous program: the ranks pass as many elements in all to
 * MPI_Reduce_scatter, but rank 1 splits them into other blocks. No rank may wait forever without a
 * message.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { RANKS = 16, RIGHT = 20 };

static int reduce_scatter(int *in, int *out, int *counts)
{
    return MPI_Reduce_scatter(in, out, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    int rank, size, counts[RANKS], each = argc > 1 ? atoi(argv[1]) : 10;

    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int *in = calloc((size_t)each * RANKS, sizeof *in),
        *out = calloc((size_t)each * RANKS, sizeof *out);
    if (size > RANKS || !in || !out)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int r = 0; r < size; r++)
        counts[r] = each;
    for (int i = 0; i < RIGHT; i++)
        reduce_scatter(in, out, counts);
    if (rank == 1) {
        counts[0] = 2 * each;
        counts[size - 1] = 0;
    }
    reduce_scatter(in, out, counts);
    printf("rank %d is through\n", rank);
    fflush(stdout);
    MPI_Finalize();
    free(in);
    free(out);
    return 0;
}
