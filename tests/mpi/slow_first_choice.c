/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * slow_first_choice.c - makes calls of one collective and one size, and checks each result
 * (slow_first_choice.py).
 *
 *   slow_first_choice bcast|allreduce|alltoall CALLS
 */
#include "check.h"

enum { BYTES = 1 << 20, NUMBERS = BYTES / (int)sizeof(int64_t) };

static int64_t *mine, *all;

static void broadcast(int call)
{
    int root = call % world_size;
    bool good = true;

    for (int i = 0; i < NUMBERS; i++)
        all[i] = world_rank == root ? i + call : -1;
    MPI_Bcast(all, NUMBERS, MPI_INT64_T, root, MPI_COMM_WORLD);
    for (int i = 0; i < NUMBERS; i++)
        good = good && all[i] == i + call;
    check(good, "wrong broadcast %d", call);
}

static void add(int call)
{
    int64_t ranks = (int64_t)world_size * (world_size - 1) / 2;
    bool good = true;

    for (int i = 0; i < NUMBERS; i++)
        mine[i] = world_rank + i + call;
    MPI_Allreduce(mine, all, NUMBERS, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < NUMBERS; i++)
        good = good && all[i] == ranks + (int64_t)world_size * (i + call);
    check(good, "wrong sums %d", call);
}

static void exchange(int call)
{
    bool good = true;

    for (int i = 0; i < NUMBERS * world_size; i++)
        mine[i] = world_rank * 100 + i / NUMBERS + i % NUMBERS * 10000 + call;
    MPI_Alltoall(mine, NUMBERS, MPI_INT64_T, all, NUMBERS, MPI_INT64_T, MPI_COMM_WORLD);
    for (int i = 0; i < NUMBERS * world_size; i++)
        good = good && all[i] == i / NUMBERS * 100 + world_rank + i % NUMBERS * 10000 + call;
    check(good, "wrong blocks %d", call);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv, MPI_THREAD_SINGLE);
    size_t bytes = (size_t)world_size * BYTES;
    mine = malloc(bytes);
    all = malloc(bytes);
    void (*call)(int) = strcmp(argv[1], "bcast") == 0       ? broadcast
                        : strcmp(argv[1], "allreduce") == 0 ? add
                                                            : exchange;
    for (int i = 0; i < atoi(argv[2]); i++)
        call(i);
    free(mine);
    free(all);
    section("calls");
    return finish("slow_first_choice");
}
