/* SPDX-License-Identifier: BSD-3-Clause */
/* program.c - calls MPI_Neighbor_alltoall on a graph in which all ranks are neighbors, and verifies
 * each result. Exits with 0, or with 1 if a number is wrong. */
#include <mpi.h>
#include <stdio.h>

enum { RANKS = 64, CALLS = 100 };

int main(int argc, char **argv)
{
    int all[RANKS], in[RANKS], out[RANKS], rank, ranks, wrong = 0;
    MPI_Comm graph;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int r = 0; r < ranks; r++)
        all[r] = r; /* all[] also serves as the weights */
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, ranks, all, all, ranks, all, all, MPI_INFO_NULL,
                                   0, &graph);
    for (int call = 0; call < CALLS; call++) {
        for (int r = 0; r < ranks; r++)
            in[r] = 10000 * call + 100 * rank + r;
        MPI_Neighbor_alltoall(in, 1, MPI_INT, out, 1, MPI_INT, graph);
        for (int r = 0; r < ranks; r++)
            wrong += out[r] != 10000 * call + 100 * r + rank;
    }
    if (wrong)
        printf("rank %d: %d wrong numbers\n", rank, wrong);
    MPI_Comm_free(&graph);
    MPI_Finalize();
    return wrong != 0;
}
