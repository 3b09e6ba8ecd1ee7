/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * epochs.c - an exposure epoch that all origins completed before a barrier must be found complete
 * by the first MPI_Win_test after the barrier.
 *
 * MPI does not promise this. But with every MPI's own barrier it holds except for very few epochs
 * of many ranks, and programs (mpi4py's tests among them) rely on it.
 */
#include "check.h"

enum { TIMES = 100, PUTS = 8 };

static void open_and_complete(MPI_Win window, MPI_Group others, int *from)
{
    MPI_Win_post(others, 0, window);
    MPI_Win_start(others, 0, window);
    for (int i = 0; i < PUTS * world_size; i++) {
        int target = i % world_size;
        if (target != world_rank)
            MPI_Put(from, 1, MPI_INT, target, world_rank, 1, MPI_INT, window);
    }
    MPI_Win_complete(window);
}

int main(int argc, char **argv)
{
    MPI_Group all, others;
    MPI_Win window;
    int late = 0;

    begin(&argc, &argv, MPI_THREAD_SINGLE);
    int *mine = allocate((size_t)world_size * sizeof *mine);
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_excl(all, 1, &world_rank, &others);
    MPI_Win_create(mine, (MPI_Aint)((size_t)world_size * sizeof *mine), sizeof *mine, MPI_INFO_NULL,
                   MPI_COMM_WORLD, &window);
    for (int time = 0; time < TIMES; time++) {
        int ended = 0, given = 1000 * time + world_rank;

        open_and_complete(window, others, &given);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Win_test(window, &ended);
        late += !ended && time > 0; /* connections may still be set up in the first epoch */
        if (!ended)
            MPI_Win_wait(window);
        for (int origin = 0; origin < world_size; origin++)
            if (origin != world_rank)
                check(mine[origin] == 1000 * time + origin, "epoch %d: wrong value put by rank %d",
                      time, origin);
    }
    check(late <= TIMES / 50, "%d of %d epochs had not ended", late, TIMES - 1);
    MPI_Win_free(&window);
    MPI_Group_free(&others);
    MPI_Group_free(&all);
    free(mine);
    return finish("epochs");
}
