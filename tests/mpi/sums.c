/* SPDX-License-Identifier: BSD-3-Clause */
/* sums.c - makes allreduces and broadcasts with known results. Exits with status 1 if a result is
 * wrong. */
#include <mpi.h>
#include <stdio.h>

enum { COUNT = 100, CALLS = 50 };

int main(int argc, char **argv)
{
    int rank, ranks, wrong = 0, all_wrong;
    long mine[COUNT], sum[COUNT];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int call = 0; call < CALLS; call++) {
        for (int i = 0; i < COUNT; i++)
            mine[i] = rank + i + call;
        MPI_Allreduce(mine, sum, COUNT, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
        MPI_Bcast(mine, COUNT, MPI_LONG, ranks - 1, MPI_COMM_WORLD);
        for (int i = 0; i < COUNT; i++)
            wrong += mine[i] != ranks - 1 + i + call ||
                     sum[i] != (long)ranks * (i + call) + (long)ranks * (ranks - 1) / 2;
    }
    MPI_Reduce(&wrong, &all_wrong, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d ranks, %d wrong\n", ranks, all_wrong);
    MPI_Finalize();
    return wrong != 0;
}
