/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * locks.c - a rank waits for a window's lock that another one holds until its nonblocking
 * collective is over.  The first has started that, too: in its wait for the lock it must advance
 * it, or it must be the MPI's own.
 */
#include "check.h"

enum { BLOCK = 60000 };

int main(int argc, char **argv)
{
    begin(&argc, &argv, MPI_THREAD_SINGLE);
    size_t bytes = (size_t)world_size * BLOCK * sizeof(int);
    int *from = allocate(bytes), *to = allocate(bytes), word = 0, last = world_size - 1;
    MPI_Request request;
    MPI_Win window;

    for (int i = 0; i < world_size * BLOCK; i++)
        from[i] = i + world_rank;
    MPI_Win_create(&word, sizeof word, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    if (world_rank == last)
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, last, 0, window);
    MPI_Barrier(MPI_COMM_WORLD);
    if (world_rank != 0)
        pause_us(200000); /* rank 0 is in its wait */
    MPI_Ialltoall(from, BLOCK, MPI_INT, to, BLOCK, MPI_INT, MPI_COMM_WORLD, &request);
    if (world_rank != 0)
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (world_rank == last)
        MPI_Win_unlock(last, window);
    if (world_rank == 0) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, last, 0, window);
        MPI_Win_unlock(last, window);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    for (int r = 0; r < world_size; r++)
        check(to[r * BLOCK] == world_rank * BLOCK + r, "block of rank %d", r);
    MPI_Win_free(&window);
    free(from);
    free(to);
    return finish("locks");
}
