/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * locks.c - a rank waits for a window's lock, which another rank holds until its nonblocking
 * collective has completed. The first rank has started this collective, too. While it waits for the
 * lock, it must make progress on the collective, or the collective must be the MPI's own.
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
        pause_us(200000); /* rank 0 is waiting by now */
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
        check(to[r * BLOCK] == world_rank * BLOCK + r, "the block of rank %d is wrong", r);
    MPI_Win_free(&window);
    free(from);
    free(to);
    return finish("locks");
}
