/* SPDX-License-Identifier: BSD-3-Clause */
/* cut.c - a broadcast of more than the others have room for; the default error handler ends it. */
#include <mpi.h>

int main(int count, char **words)
{
    char bytes[100] = "";
    int rank;

    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Bcast(bytes, rank == 0 ? 100 : 10, MPI_CHAR, 0, MPI_COMM_WORLD);
    return MPI_Finalize();
}
