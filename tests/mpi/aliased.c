/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * aliased.c - rank 0 sends from the place of its own block in the result, described by other types
 * than the block it receives. This is erroneous, but MPIs complete such calls, so every rank must
 * complete them.
 */
#include <mpi.h>
#include <stdio.h>

enum { RANKS = 16, ROUNDS = 20 };

int main(int argc, char **argv)
{
    int rank, size, in[RANKS], out[RANKS];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size > RANKS)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int round = 0; round < ROUNDS; round++) {
        for (int r = 0; r < size; r++)
            in[r] = out[r] = rank;
        MPI_Alltoall(rank == 0 ? out : in, sizeof(int), MPI_BYTE, out, 1, MPI_INT, MPI_COMM_WORLD);
        MPI_Allgather(rank == 0 ? out : in, sizeof(int), MPI_BYTE, out, 1, MPI_INT, MPI_COMM_WORLD);
        for (int r = 1; r < size; r++)
            if (out[r] != r)
                MPI_Abort(MPI_COMM_WORLD, 1);
    }
    if (rank == 0)
        printf("aliased: through\n");
    MPI_Finalize();
    return 0;
}
