/* SPDX-License-Identifier: BSD-3-Clause */
/* corrupt.c - a library to be preloaded. Every broadcast gives the last rank one wrong byte, and a
 * program that verifies its bytes must report it. */
#include <mpi.h>

int MPI_Bcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
    int code = PMPI_Bcast(buffer, count, type, root, comm), rank, size;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    if (count > 0 && rank == size - 1)
        ((unsigned char *)buffer)[count / 2] ^= 1;
    return code;
}
