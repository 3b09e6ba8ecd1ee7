/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mismatched_calls.c - programs whose ranks make different calls, for the reports of HUDDLE_CHECK.
 *
 *     mismatched_calls root | kind | bytes | operation | counts | reduced | names | blocks |
 *     gathered | scanned | started | ends | freed | first    erroneous
 *     mismatched_calls others | silent | slow | late         correct, but ranks keep the others
 *                                                            waiting
 *
 * Before the error all ranks agree. After the error an MPI may hang or fail. So the program exits
 * without MPI_Finalize after the error was made and there was time to report it.
 */
#include "check.h"

#include <unistd.h>

/* Reports are printed at whole seconds. A late rank arrives between two of them. */
enum { SILENCE_US = 1500000, ALARM_S = 2 };

static int number;
static long long numbers[64], gathered[64];

/* Makes calls of many kinds in which all ranks agree. The last is a broadcast of 4 bytes. */
static void agree(void)
{
    int counts[64], at[64], last = world_size - 1, one = 1, sum;

    for (int i = 0; i < world_size; i++) {
        counts[i] = 1;
        at[i] = i;
    }
    for (int i = 0; i < 8; i++) {
        MPI_Allreduce(numbers, gathered, 3, MPI_LONG_LONG, MPI_SUM,
                      MPI_COMM_WORLD); /* the first call, which huddle must not handle */
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Bcast(numbers, 5, MPI_LONG_LONG, i % world_size, MPI_COMM_WORLD);
        MPI_Allreduce(MPI_IN_PLACE, gathered, 3, MPI_LONG_LONG, MPI_MAX, MPI_COMM_WORLD);
        MPI_Reduce(numbers, gathered, 2, MPI_LONG_LONG, MPI_MIN, last, MPI_COMM_WORLD);
        MPI_Gather(numbers, 1, MPI_LONG_LONG, world_rank == last ? gathered : NULL,
                   world_rank == last, MPI_LONG_LONG, last, MPI_COMM_WORLD);
        MPI_Scatter(world_rank ? NULL : numbers, !world_rank, MPI_LONG_LONG, gathered, 2, MPI_INT,
                    0, MPI_COMM_WORLD);
        MPI_Allgather(numbers, 2, MPI_INT, gathered, 1, MPI_LONG_LONG, MPI_COMM_WORLD);
        MPI_Allgatherv(numbers, 1, MPI_LONG_LONG, gathered, counts, at, MPI_LONG_LONG,
                       MPI_COMM_WORLD);
        MPI_Alltoall(numbers, 1, MPI_LONG_LONG, gathered, 1, MPI_LONG_LONG, MPI_COMM_WORLD);
        MPI_Alltoallv(numbers, counts, at, MPI_LONG_LONG, gathered, counts, at, MPI_LONG_LONG,
                      MPI_COMM_WORLD);
        MPI_Gatherv(numbers, 1, MPI_LONG_LONG, gathered, counts, at, MPI_LONG_LONG, 0,
                    MPI_COMM_WORLD);
        MPI_Scatterv(numbers, counts, at, MPI_LONG_LONG, gathered, 1, MPI_LONG_LONG, 0,
                     MPI_COMM_WORLD);
        MPI_Reduce_scatter(numbers, gathered, counts, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
        MPI_Reduce_scatter_block(numbers, gathered, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
        MPI_Scan(numbers, gathered, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
        MPI_Exscan(numbers, gathered, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    }
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    check(sum == world_size, "a sum of ones is %d", sum);
    MPI_Bcast(&number, 1, MPI_INT, 0, MPI_COMM_WORLD);
}

static void by_type(void)
{
    MPI_Datatype types[64], pair;
    int counts[64], at[64];

    MPI_Type_vector(2, 1, 2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    for (int i = 0; i < world_size; i++) {
        types[i] = MPI_BYTE;
        counts[i] = world_rank + i;
        at[i] = 0;
    }
    MPI_Alltoallw(numbers, counts, at, types, gathered, counts, at, types, MPI_COMM_WORLD);
    MPI_Bcast(numbers, world_rank % 2 ? 1 : 2, world_rank % 2 ? pair : MPI_INT, 1, MPI_COMM_WORLD);
    MPI_Bcast(numbers, 0, MPI_INT, world_rank % 2, MPI_COMM_WORLD);
    MPI_Type_free(&pair);
}

/* Makes calls on other communicators, and calls of zero bytes described in several ways. */
static void others(void)
{
    MPI_Comm comm, half;

    for (int i = 0; i < 3; i++) {
        agree();
        by_type();
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Comm_split(comm, world_rank % 2, 0, &half);
        MPI_Allreduce(MPI_IN_PLACE, &number, 1, MPI_INT, MPI_MAX, half);
        MPI_Barrier(world_rank % 2 ? half : comm);
        MPI_Barrier(world_rank % 2 ? comm : half);
        MPI_Comm_free(&half);
        MPI_Comm_free(&comm);
    }
    section("others");
    exit(finish("mismatched_calls"));
}

static void be_silent(void)
{
    if (world_rank == world_size - 1)
        pause_us(SILENCE_US);
}

/* Adds numbers slowly. Only the rank that computes the sum is delayed. */
static void slow_sum(void *in, void *out, int *count, MPI_Datatype *type)
{
    static bool slept;

    (void)type;
    if (!slept)
        pause_us(SILENCE_US);
    slept = true;
    for (int i = 0; i < *count; i++)
        ((int *)out)[i] += ((int *)in)[i];
}

/* Keeps ranks waiting, before a call or within the MPI's own call. */
static void silent(bool within)
{
    MPI_Op op;

    MPI_Op_create(slow_sum, 1, &op);
    if (!within)
        be_silent();
    MPI_Allreduce(&number, gathered, 1, MPI_INT, within ? op : MPI_SUM, MPI_COMM_WORLD);
    MPI_Op_free(&op);
    section("silent");
    exit(finish("mismatched_calls"));
}

static void freed(void)
{
    MPI_Comm comm;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_name(comm, "its own");
    MPI_Barrier(comm);
    if (world_rank == 0)
        MPI_Comm_free(&comm);
    else
        MPI_Barrier(comm);
}

/* Makes a call that huddle serves as another collective. */
static void by_name(bool odd)
{
    MPI_Datatype types[64];
    int counts[64], at[64] = { 0 };

    for (int i = 0; i < world_size; i++) {
        types[i] = MPI_INT;
        counts[i] = 1;
    }
    if (odd)
        MPI_Alltoallw(numbers, counts, at, types, gathered, counts, at, types, MPI_COMM_WORLD);
    else
        MPI_Reduce_scatter_block(numbers, gathered, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

/* Makes a nonblocking call. */
static void started(bool odd)
{
    MPI_Request request;

    if (odd)
        MPI_Iscan(numbers, gathered, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    else
        MPI_Iallreduce(numbers, gathered, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";

    begin(&argc, &argv, MPI_THREAD_SINGLE);
    bool odd = world_rank == world_size - 1;
    if (strcmp(what, "others") == 0)
        others();
    if (strcmp(what, "late") == 0)
        be_silent();
    if (strcmp(what, "first") != 0)
        agree();
    if (strcmp(what, "late") == 0)
        exit(finish("mismatched_calls"));
    if (strcmp(what, "silent") == 0 || strcmp(what, "slow") == 0)
        silent(strcmp(what, "slow") == 0);
    alarm(ALARM_S);
    if (strcmp(what, "root") == 0)
        MPI_Bcast(numbers, 5, MPI_INT, odd ? 1 : 0, MPI_COMM_WORLD);
    else if (strcmp(what, "bytes") == 0)
        MPI_Bcast(numbers, odd ? 4 : 5, MPI_INT, 0, MPI_COMM_WORLD);
    else if (strcmp(what, "operation") == 0)
        MPI_Allreduce(&number, gathered, 1, MPI_INT, odd ? MPI_MAX : MPI_SUM, MPI_COMM_WORLD);
    else if (strcmp(what, "counts") == 0)
        MPI_Allreduce(numbers, gathered, odd ? 4 : 5, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    else if (strcmp(what, "reduced") == 0 && odd)
        MPI_Allreduce(numbers, gathered, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    else if (strcmp(what, "names") == 0)
        by_name(odd);
    else if (strcmp(what, "blocks") == 0)
        MPI_Alltoall(numbers, odd ? 1 : 2, MPI_INT, gathered, 2, MPI_INT, MPI_COMM_WORLD);
    else if (strcmp(what, "gathered") == 0)
        MPI_Gather(numbers, 2, MPI_INT, gathered, 2, MPI_INT, odd ? 1 : 0, MPI_COMM_WORLD);
    else if (strcmp(what, "scanned") == 0)
        (odd ? MPI_Exscan : MPI_Scan)(numbers, gathered, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    else if (strcmp(what, "started") == 0)
        started(odd);
    else if (strcmp(what, "ends") == 0 && odd)
        _exit(0);
    else if (strcmp(what, "freed") == 0)
        freed();
    else if ((strcmp(what, "kind") == 0 || strcmp(what, "first") == 0) && odd)
        MPI_Bcast(&number, 1, MPI_INT, 0, MPI_COMM_WORLD);
    else
        MPI_Barrier(MPI_COMM_WORLD);
    pause_us(500000); /* leaves the other ranks time to print their lines */
    _exit(0);
}
