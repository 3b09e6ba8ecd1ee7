/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gaps.c - a rank's own block is in the gaps between the blocks of the result, as in an array of
 * struct { char all[N], mine[N]; }, whose first `mine` is gathered into each `all`, and back.
 */
#include "check.h"

enum { MAX_BLOCK = 1 << 20 };

static unsigned char *array;
static int block;

static void fill(void)
{
    memset(array, 0, 2 * (size_t)block * (size_t)world_size);
    memset(array + block, 'A' + world_rank, (size_t)block);
}

static void check_all(const char *what)
{
    for (int r = 0; r < world_size; r++) {
        const unsigned char *all = array + 2 * (size_t)block * (size_t)r;
        check(all[0] == 'A' + r && all[block - 1] == 'A' + r, "%s: block %d of %d bytes is wrong",
              what, r, block);
    }
}

/* Checks the block that was scattered into the gap of this rank, also at the root. */
static void check_mine(void)
{
    check(array[block] == 'A' + world_rank && array[2 * block - 1] == 'A' + world_rank,
          "scatter: the block of %d bytes is wrong", block);
}

static void one(MPI_Datatype field)
{
    fill();
    MPI_Allgather(array + block, block, MPI_CHAR, array, 1, field, MPI_COMM_WORLD);
    check_all("allgather");
    for (int root = 0; root < world_size; root++) {
        fill();
        MPI_Gather(array + block, block, MPI_CHAR, array, 1, field, root, MPI_COMM_WORLD);
        if (world_rank == root)
            check_all("gather");
        memset(array + block, 0, (size_t)block);
        MPI_Scatter(array, 1, field, array + block, block, MPI_CHAR, root, MPI_COMM_WORLD);
        check_mine();
    }
}

int main(int argc, char **argv)
{
    static const int blocks[] = { 8, 1000, 20000, 65536, 300000, MAX_BLOCK };

    begin(&argc, &argv, MPI_THREAD_SINGLE);
    array = allocate(2 * (size_t)MAX_BLOCK * (size_t)world_size);
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        MPI_Datatype run, field;
        block = blocks[i];
        MPI_Type_contiguous(block, MPI_CHAR, &run);
        MPI_Type_create_resized(run, 0, 2 * block, &field);
        MPI_Type_commit(&field);
        one(field);
        MPI_Type_free(&field);
        MPI_Type_free(&run);
    }
    section("gaps");
    free(array);
    return finish("gaps");
}
