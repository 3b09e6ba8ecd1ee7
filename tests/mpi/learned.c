/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * learned.c - makes the same calls again and again, so that huddle decides their cells
 * (HUDDLE_WISDOM), and checks each result. Communicators that come later use what was learned.
 *
 *   learned [--reductions]
 *
 * --reductions: also reductions on which MPIs disagree, of sums that overflow and of MPI_OFFSET, of
 * which some forget the sign. They must have the bits of their first call in all calls, whatever
 * these are.
 */
#include "check.h"

enum { CALLS = 300, BYTES = 65536, NUMBERS = BYTES / (int)sizeof(int64_t) };

static unsigned char want[BYTES], got[BYTES];
static int64_t mine[NUMBERS], all[NUMBERS];
static uint64_t id;
static bool reduces;

enum { CHARS = 3000, OFFSETS = CHARS / (int)sizeof(MPI_Offset), ODD = 5 };

static signed char chars[CHARS];
static MPI_Offset offsets[OFFSETS], results[OFFSETS], first[2][ODD][OFFSETS];
_Static_assert(sizeof chars == sizeof results, "of either type");

static void broadcast(MPI_Comm comm, int rank, int size)
{
    int root = (int)(++id % (uint64_t)size);

    pattern(want, BYTES, id);
    memset(got, 0, BYTES);
    if (rank == root)
        memcpy(got, want, BYTES);
    MPI_Bcast(got, BYTES, MPI_BYTE, root, comm);
    check(memcmp(got, want, BYTES) == 0, "wrong broadcast %d", (int)id);
}

static void add(MPI_Comm comm, int rank, int size, int count)
{
    bool good = true;

    for (int i = 0; i < count; i++)
        mine[i] = rank * 1000 + i + (int64_t)id;
    MPI_Allreduce(mine, all, count, MPI_INT64_T, MPI_SUM, comm);
    for (int i = 0; i < count; i++)
        good = good && all[i] == 500 * size * (size - 1) + (i + (int64_t)id) * size;
    check(good, "wrong sums of %d numbers in round %d", count, (int)id);
}

static void gather(MPI_Comm comm, int rank, int size)
{
    int block = NUMBERS / size;
    bool good = true;

    for (int i = 0; i < block; i++)
        mine[i] = rank * 1000 + i;
    MPI_Allgather(mine, block, MPI_INT64_T, all, block, MPI_INT64_T, comm);
    for (int i = 0; i < block * size; i++)
        good = good && all[i] == i / block * 1000 + i % block;
    check(good, "wrong blocks in round %d", (int)id);
}

/* Makes the reduction of a number on the buffers of a type. */
static void reduce(MPI_Comm comm, int which, const void *in, void *out, int count,
                   MPI_Datatype type, MPI_Op op, int size)
{
    if (which == 0)
        MPI_Allreduce(in, out, count, type, op, comm);
    else if (which == 1)
        MPI_Reduce(in, out, count, type, op, size - 1, comm);
    else if (which == 2)
        MPI_Reduce_scatter_block(in, out, count / size, type, op, comm);
    else if (which == 3)
        MPI_Scan(in, out, count, type, op, comm);
    else
        MPI_Exscan(in, out, count, type, op, comm);
}

/* Makes each reduction, in turn of numbers whose sum overflows, and of negative and positive
 * numbers to be compared. Checks that the results have the bits of the first round. */
static void reduce_oddly(MPI_Comm comm, int rank, int size, int round)
{
    bool adds = round % 2 == 0;

    for (int i = 0; i < CHARS; i++)
        chars[i] = (signed char)(100 + i % 28);
    for (int i = 0; i < OFFSETS; i++)
        offsets[i] = (rank - 1) * 1000 - i % 100;
    for (int which = 0; which < ODD; which++) {
        bool has_result = which == 1 ? rank == size - 1 : which != ODD - 1 || rank != 0;
        memset(results, 0, sizeof results);
        if (adds)
            reduce(comm, which, chars, results, CHARS, MPI_SIGNED_CHAR, MPI_SUM, size);
        else
            reduce(comm, which, offsets, results, OFFSETS, MPI_OFFSET, MPI_MAX, size);
        if (round < 2)
            memcpy(first[adds][which], results, sizeof results);
        check(!has_result || memcmp(first[adds][which], results, sizeof results) == 0,
              "other %s of reduction %d in round %d", adds ? "sums" : "maxima", which, round);
    }
}

static void repeat(MPI_Comm comm, int calls)
{
    int rank, size;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int i = 0; i < calls; i++) {
        broadcast(comm, rank, size);
        add(comm, rank, size, 1);
        add(comm, rank, size, NUMBERS);
        gather(comm, rank, size);
        if (reduces)
            reduce_oddly(comm, rank, size, i);
        MPI_Barrier(comm);
    }
}

int main(int argc, char **argv)
{
    MPI_Comm copy, halves;

    begin(&argc, &argv, MPI_THREAD_SINGLE);
    reduces = argc > 1 && strcmp(argv[1], "--reductions") == 0;
    repeat(MPI_COMM_WORLD, CALLS);
    section("world");
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    repeat(copy, CALLS / 10);
    MPI_Comm_free(&copy);
    section("copy");
    MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, -world_rank, &halves);
    repeat(halves, CALLS / 10);
    MPI_Comm_free(&halves);
    section("halves");
    return finish("learned");
}
