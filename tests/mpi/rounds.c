/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rounds.c - makes every collective that huddle handles, of small, medium and large size, on
 * MPI_COMM_WORLD, a duplicate and two halves, and verifies each result. At the end each rank prints
 * its open resources. Short, for runs in which something fails (tests/faults).
 *
 *   rounds [--nonblocking]    with two nonblocking collectives: one that copies its arrays, and one
 *                             that is complete at once on all ranks except the root
 */
#include "../resources.h"
#include "check.h"

enum { NUMBERS = 1 << 15 }; /* maximum per rank */

static long *in, *out;
static int *counts, *places;
static bool nonblocking;

static long value(int rank, int to, int i)
{
    return 1000 * rank + 10 * to + i % 7;
}

static long sum(int ranks, int to, int i)
{
    long all = 0;

    for (int r = 0; r < ranks; r++)
        all += value(r, to, i);
    return all;
}

static void fill(int rank, int ranks, int n)
{
    for (int to = 0; to < ranks; to++)
        for (int i = 0; i < n; i++)
            in[to * n + i] = value(rank, to, i);
    memset(out, -1, (size_t)ranks * (size_t)n * sizeof *out);
}

static void broadcast(MPI_Comm comm, int rank, int n)
{
    MPI_Datatype gaps;

    for (int i = 0; i < n; i++)
        out[i] = rank == 1 ? value(1, 0, i) : -1;
    MPI_Bcast(out, n, MPI_LONG, 1, comm);
    for (int i = 0; i < n; i++)
        check(out[i] == value(1, 0, i), "bcast of %d: wrong number %ld at %d", n, out[i], i);
    MPI_Type_vector(n, 1, 2, MPI_LONG, &gaps);
    MPI_Type_commit(&gaps);
    for (int i = 0; i < 2 * n; i++)
        out[i] = rank == 0 ? i : -2;
    MPI_Bcast(out, 1, gaps, 0, comm);
    for (int i = 0; i < 2 * n; i++)
        check(out[i] == (i % 2 == 0 || rank == 0 ? i : -2),
              "bcast with gaps of %d: wrong number %ld at %d", n, out[i], i);
    MPI_Type_free(&gaps);
}

static void reduce(MPI_Comm comm, int rank, int ranks, int n)
{
    fill(rank, ranks, n);
    MPI_Reduce(in, out, n, MPI_LONG, MPI_SUM, 1, comm);
    for (int i = 0; i < n && rank == 1; i++)
        check(out[i] == sum(ranks, 0, i), "reduce of %d: wrong number %ld at %d", n, out[i], i);
    MPI_Allreduce(in, out, n, MPI_LONG, MPI_SUM, comm);
    for (int i = 0; i < n; i++)
        check(out[i] == sum(ranks, 0, i), "allreduce of %d: wrong number %ld at %d", n, out[i], i);
    MPI_Reduce_scatter_block(in, out, n, MPI_LONG, MPI_SUM, comm);
    for (int i = 0; i < n; i++)
        check(out[i] == sum(ranks, rank, i), "reduce_scatter_block of %d: wrong number %ld at %d",
              n, out[i], i);
    MPI_Reduce_scatter(in, out, counts, MPI_LONG, MPI_SUM, comm);
    for (int i = 0; i < n; i++)
        check(out[i] == sum(ranks, rank, i), "reduce_scatter of %d: wrong number %ld at %d", n,
              out[i], i);
}

static void exchange(MPI_Comm comm, int rank, int ranks, int n)
{
    MPI_Request request;

    fill(rank, ranks, n);
    MPI_Alltoall(in, n, MPI_LONG, out, n, MPI_LONG, comm);
    for (int i = 0; i < n * ranks; i++)
        check(out[i] == value(i / n, rank, i % n), "alltoall of %d: wrong number %ld at %d", n,
              out[i], i);
    fill(rank, ranks, n);
    MPI_Alltoallv(in, counts, places, MPI_LONG, out, counts, places, MPI_LONG, comm);
    for (int i = 0; i < n * ranks; i++)
        check(out[i] == value(i / n, rank, i % n), "alltoallv of %d: wrong number %ld at %d", n,
              out[i], i);
    if (!nonblocking)
        return;
    fill(rank, ranks, n);
    MPI_Ialltoallv(in, counts, places, MPI_LONG, out, counts, places, MPI_LONG, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < n * ranks; i++)
        check(out[i] == value(i / n, rank, i % n), "ialltoallv of %d: wrong number %ld at %d", n,
              out[i], i);
}

/* Waits for a request. Returns false if it failed for lack of memory, which only MPI_Wait may
 * report. Does not abort the job instead, because mpirun of Open MPI 4 may then lose the message or
 * hang. */
static bool is_complete(MPI_Comm comm, MPI_Request *request)
{
    int class = MPI_SUCCESS;

    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Error_class(MPI_Wait(request, MPI_STATUS_IGNORE), &class);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL);
    check(class == MPI_SUCCESS || class == MPI_ERR_NO_MEM, "MPI_Wait: error class %d", class);
    return class != MPI_ERR_NO_MEM;
}

/* Starts a broadcast, on the other ranks only after the root has started. Open MPI's front end
 * needs memory for the elements of this type. */
static void start_late(MPI_Comm comm, int rank, int ranks, int n)
{
    int elements = n < 512 ? n : 512, root = ranks - 1;
    long double *values = (long double *)out;
    MPI_Request request;
    MPI_Datatype gaps;

    MPI_Type_vector(elements, 1, 2, MPI_C_LONG_DOUBLE_COMPLEX, &gaps);
    MPI_Type_commit(&gaps);
    for (int i = 0; i < 4 * elements; i++)
        values[i] = rank == root ? i : -1;
    if (rank != root)
        MPI_Recv(NULL, 0, MPI_BYTE, root, 1, comm, MPI_STATUS_IGNORE);
    MPI_Ibcast(values, 1, gaps, root, comm, &request);
    for (int r = 0; r < root && rank == root; r++)
        MPI_Send(NULL, 0, MPI_BYTE, r, 1, comm);
    bool complete = is_complete(comm, &request);
    for (int i = 0; i < 4 * elements && complete; i++)
        check(values[i] == (i % 4 < 2 || rank == root ? i : -1),
              "ibcast of %d: wrong number %Lg at %d", elements, values[i], i);
    MPI_Type_free(&gaps);
}

static void all(MPI_Comm comm)
{
    static const int sizes[] = { 1, 512, NUMBERS };
    int rank, ranks;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        for (int r = 0; r < ranks; r++) {
            counts[r] = sizes[s];
            places[r] = r * sizes[s];
        }
        MPI_Barrier(comm);
        broadcast(comm, rank, sizes[s]);
        reduce(comm, rank, ranks, sizes[s]);
        exchange(comm, rank, ranks, sizes[s]);
        if (nonblocking)
            start_late(comm, rank, ranks, sizes[s]);
    }
}

/* Prints the number of descriptors, and the bytes of huddle's mappings. */
static void tell_open(void)
{
    printf("rounds: rank %d has %d descriptors, %ld bytes mapped\n", world_rank, open_descriptors(),
           count_mappings("memfd:huddle").named_bytes);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    MPI_Comm comm;

    begin(&argc, &argv, MPI_THREAD_SINGLE);
    nonblocking = argc > 1 && strcmp(argv[1], "--nonblocking") == 0;
    in = allocate(2 * (size_t)world_size * NUMBERS * sizeof *in);
    out = allocate(2 * (size_t)world_size * NUMBERS * sizeof *out);
    counts = allocate((size_t)world_size * sizeof *counts);
    places = allocate((size_t)world_size * sizeof *places);
    all(MPI_COMM_WORLD);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    all(comm);
    MPI_Comm_free(&comm);
    MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, world_rank, &comm);
    all(comm);
    MPI_Comm_free(&comm);
    all(MPI_COMM_WORLD);
    tell_open();
    return finish("rounds");
}
