/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * spans.c - barrier, broadcast, sums and allgathers on communicators whose ranks are dealt over the
 * nodes in different ways: in order, in turn, backwards, with ragged nodes, without the first one,
 * in halves.  Meanwhile a receive from anybody with any tag is pending on each: it must take
 * nothing of the collectives.  Nonblocking ones are in flight among them.
 *
 *   spans [MOST]     bytes of the largest broadcast
 */
#include "check.h"

enum { SUM_MOST = 60000 };

static size_t most = 200000;
static uint64_t id;

static void broadcasts(MPI_Comm comm, int rank, int size, const char *what)
{
    const size_t bytes[] = { 1, 100, 8191, 8192, 8193, 65536, most };

    for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++)
        for (int root = 0; root < size; root++) {
            unsigned char *want = allocate(bytes[i]), *got = allocate(bytes[i]);
            pattern(want, bytes[i], ++id);
            if (rank == root)
                memcpy(got, want, bytes[i]);
            MPI_Bcast(got, (int)bytes[i], MPI_BYTE, root, comm);
            check(memcmp(got, want, bytes[i]) == 0, "%s: %zu bytes from root %d", what, bytes[i],
                  root);
            free(want);
            free(got);
        }
}

/* Every second element of an array, which is not contiguous. */
static void strided(MPI_Comm comm, int rank, int size, const char *what)
{
    enum { ELEMENTS = 3000 };
    static int64_t numbers[2 * ELEMENTS];
    MPI_Datatype type;
    bool good = true;

    MPI_Type_vector(ELEMENTS, 1, 2, MPI_INT64_T, &type);
    MPI_Type_commit(&type);
    for (int i = 0; i < 2 * ELEMENTS; i++)
        numbers[i] = rank == size - 1 ? i : -1;
    MPI_Bcast(numbers, 1, type, size - 1, comm);
    for (int i = 0; i < 2 * ELEMENTS; i++)
        good = good && numbers[i] == (rank == size - 1 || i % 2 == 0 ? i : -1);
    check(good, "%s: every second number", what);
    MPI_Type_free(&type);
}

static void sums(MPI_Comm comm, int rank, int size, const char *what)
{
    static double mine[SUM_MOST], all[SUM_MOST];
    const int counts[] = { 1, 13, 1024, 1025, 8191, SUM_MOST };

    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
        bool good = true;
        for (int i = 0; i < counts[k]; i++)
            mine[i] = rank * 1000 + i;
        MPI_Allreduce(mine, all, counts[k], MPI_DOUBLE, MPI_SUM, comm);
        for (int i = 0; i < counts[k]; i++)
            good = good && all[i] == 500.0 * size * (size - 1) + (double)i * size;
        MPI_Allreduce(MPI_IN_PLACE, mine, counts[k], MPI_DOUBLE, MPI_MAX, comm);
        for (int i = 0; i < counts[k]; i++)
            good = good && mine[i] == (size - 1) * 1000 + i;
        check(good, "%s: sums of %d numbers", what, counts[k]);
    }
}

/* Blocks of equal sizes, and of sizes that grow with the rank. */
static void blocks(MPI_Comm comm, int rank, int size, const char *what)
{
    const int lengths[] = { 1, 700, 30000 };

    for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
        int n = lengths[k], all = n * size, *counts = allocate(2 * (size_t)size * sizeof(int)),
            *begins = counts + size, end = 0;
        int64_t *in = allocate((size_t)all * sizeof *in),
                *out = allocate((size_t)all * sizeof *out);
        bool good = true;
        for (int r = 0; r < size; r++) {
            counts[r] = n * (r + 1) / size;
            begins[r] = end;
            end += counts[r];
        }
        for (int i = 0; i < all; i++)
            in[i] = rank * 1000 + i;
        MPI_Allgather(in, n, MPI_INT64_T, out, n, MPI_INT64_T, comm);
        for (int i = 0; i < all; i++)
            good = good && out[i] == i / n * 1000 + i % n;
        memset(out, 0, (size_t)all * sizeof *out);
        MPI_Allgatherv(in, counts[rank], MPI_INT64_T, out, counts, begins, MPI_INT64_T, comm);
        for (int r = 0; r < size; r++)
            for (int i = 0; i < counts[r]; i++)
                good = good && out[begins[r] + i] == r * 1000 + i;
        check(good, "%s: blocks of %d numbers", what, n);
        MPI_Reduce_scatter(in, out, counts, MPI_INT64_T, MPI_SUM, comm);
        for (int i = 0; i < counts[rank]; i++)
            good = good && out[i] == 500 * size * (size - 1) + (int64_t)(begins[rank] + i) * size;
        MPI_Reduce_scatter_block(MPI_IN_PLACE, in, n, MPI_INT64_T, MPI_SUM, comm);
        for (int i = 0; i < n; i++)
            good = good && in[i] == 500 * size * (size - 1) + (int64_t)(rank * n + i) * size;
        check(good, "%s: blocks of sums of %d numbers", what, n);
        free(counts);
        free(in);
        free(out);
    }
}

/* Nobody leaves before the last has come; all nodes have one clock here. */
static void barriers(MPI_Comm comm, int rank, int size, const char *what)
{
    for (int late = 0; late < size; late++) {
        int64_t times[2];
        MPI_Barrier(comm);
        if (rank == late)
            pause_us(3000);
        times[0] = (int64_t)now_ns();
        MPI_Barrier(comm);
        times[1] = -(int64_t)now_ns();
        MPI_Allreduce(MPI_IN_PLACE, times, 2, MPI_INT64_T, MPI_MAX, comm);
        check(times[0] <= -times[1], "%s: a rank left before rank %d came", what, late);
    }
}

static void all_of(MPI_Comm comm, const char *what)
{
    int rank, size, taken, one = 1, caught = 0;
    MPI_Request any, barrier;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    id = 0; /* not all ranks are in all of them */
    MPI_Irecv(&caught, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &any);
    barriers(comm, rank, size, what);
    MPI_Ibarrier(comm, &barrier);
    broadcasts(comm, rank, size, what);
    strided(comm, rank, size, what);
    sums(comm, rank, size, what);
    blocks(comm, rank, size, what);
    MPI_Wait(&barrier, MPI_STATUS_IGNORE);
    MPI_Test(&any, &taken, MPI_STATUS_IGNORE);
    check(!taken && caught == 0, "%s: a receive took a message of a collective", what);
    MPI_Barrier(comm); /* all have looked */
    MPI_Send(&one, 1, MPI_INT, (rank + 1) % size, 5, comm);
    MPI_Wait(&any, MPI_STATUS_IGNORE);
    check(caught == 1, "%s: a receive did not get its message", what);
    MPI_Barrier(comm);
}

static void split(int color, int key, const char *what)
{
    MPI_Comm comm;

    MPI_Comm_split(MPI_COMM_WORLD, color, key, &comm);
    if (comm != MPI_COMM_NULL) {
        all_of(comm, what);
        MPI_Comm_free(&comm);
    }
    section(what);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv, MPI_THREAD_SINGLE);
    if (argc > 1)
        most = strtoul(argv[1], NULL, 10);
    int half = (world_size + 1) / 2;
    all_of(MPI_COMM_WORLD, "world");
    section("world");
    split(0, -world_rank, "backwards");
    split(0, world_rank % half, "in turn");
    split(world_rank == 0 ? MPI_UNDEFINED : 0, 0, "ragged");
    split(world_rank % 2, 0, "halves");
    return finish("spans");
}
