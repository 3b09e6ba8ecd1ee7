/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * touches.c - verifies that after the first calls, calls of short messages touch no page for the
 * first time. A process counts its page faults (getrusage) in each call on a new communicator. Only
 * for runs with huddle, because the MPI's own collectives may touch pages.
 *
 *     touches
 */
#define _GNU_SOURCE
#include "check.h"

#include <sys/resource.h>

enum { CALLS = 300, FIRST = 16, MAX_BYTES = 4096, RANKS = 64 };

static const double LONG_S = 0.5e-3;

static char *in, *out;
static int counts[RANKS], starts[RANKS];

static long faults(void)
{
    struct rusage used;

    getrusage(RUSAGE_THREAD, &used);
    return used.ru_minflt;
}

/* ---- the collectives: n bytes per rank, or per block ---- */

static void bcast(MPI_Comm comm, int n, int root)
{
    MPI_Bcast(in, n, MPI_BYTE, root, comm);
}

static void reduce(MPI_Comm comm, int n, int root)
{
    MPI_Reduce(in, out, n, MPI_BYTE, MPI_BOR, root, comm);
}

static void gather(MPI_Comm comm, int n, int root)
{
    MPI_Gather(in, n, MPI_BYTE, out, n, MPI_BYTE, root, comm);
}

static void gatherv(MPI_Comm comm, int n, int root)
{
    MPI_Gatherv(in, n, MPI_BYTE, out, counts, starts, MPI_BYTE, root, comm);
}

static void scatter(MPI_Comm comm, int n, int root)
{
    MPI_Scatter(in, n, MPI_BYTE, out, n, MPI_BYTE, root, comm);
}

static void scatterv(MPI_Comm comm, int n, int root)
{
    MPI_Scatterv(in, counts, starts, MPI_BYTE, out, n, MPI_BYTE, root, comm);
}

static void allreduce(MPI_Comm comm, int n, int root)
{
    (void)root;
    MPI_Allreduce(in, out, n, MPI_BYTE, MPI_BOR, comm);
}

static void reduce_scatter_block(MPI_Comm comm, int n, int root)
{
    (void)root;
    MPI_Reduce_scatter_block(in, out, n, MPI_BYTE, MPI_BOR, comm);
}

static void scan(MPI_Comm comm, int n, int root)
{
    (void)root;
    MPI_Scan(in, out, n, MPI_BYTE, MPI_BOR, comm);
}

static void exscan(MPI_Comm comm, int n, int root)
{
    (void)root;
    MPI_Exscan(in, out, n, MPI_BYTE, MPI_BOR, comm);
}

static void alltoall(MPI_Comm comm, int n, int root)
{
    (void)root;
    MPI_Alltoall(in, n, MPI_BYTE, out, n, MPI_BYTE, comm);
}

static void alltoallv(MPI_Comm comm, int n, int root)
{
    (void)n, (void)root;
    MPI_Alltoallv(in, counts, starts, MPI_BYTE, out, counts, starts, MPI_BYTE, comm);
}

static void allgather(MPI_Comm comm, int n, int root)
{
    (void)root;
    MPI_Allgather(in, n, MPI_BYTE, out, n, MPI_BYTE, comm);
}

static void allgatherv(MPI_Comm comm, int n, int root)
{
    (void)root;
    MPI_Allgatherv(in, n, MPI_BYTE, out, counts, starts, MPI_BYTE, comm);
}

/* Starts a broadcast and waits for it. The functions below do so for other collectives. */
static void ibcast(MPI_Comm comm, int n, int root)
{
    MPI_Request request;

    MPI_Ibcast(in, n, MPI_BYTE, root, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void ireduce(MPI_Comm comm, int n, int root)
{
    MPI_Request request;

    MPI_Ireduce(in, out, n, MPI_BYTE, MPI_BOR, root, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void igather(MPI_Comm comm, int n, int root)
{
    MPI_Request request;

    MPI_Igather(in, n, MPI_BYTE, out, n, MPI_BYTE, root, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static const struct collective {
    const char *name;
    void (*call)(MPI_Comm comm, int n, int root);
    bool rooted;
} collectives[] = {
    { "bcast", bcast, true },          { "reduce", reduce, true },
    { "gather", gather, true },        { "gatherv", gatherv, true },
    { "scatter", scatter, true },      { "scatterv", scatterv, true },
    { "allreduce", allreduce, false }, { "reduce_scatter", reduce_scatter_block, false },
    { "scan", scan, false },           { "exscan", exscan, false },
    { "alltoall", alltoall, false },   { "alltoallv", alltoallv, false },
    { "allgather", allgather, false }, { "allgatherv", allgatherv, false },
    { "ibcast", ibcast, true },        { "ireduce", ireduce, true },
    { "igather", igather, true },
};

/* Returns the page faults in a new communicator's calls after the first FIRST calls. All calls have
 * n bytes, and are from rank 0 or from all ranks in turn. A barrier follows each of the first
 * calls: a root that runs ahead would make more calls before the communicator is set up. Calls with
 * a long wait do not count: in them huddle looks at other ranks' notes. The communicator is kept,
 * since a new communicator gets other memory. */
static int late_faults(const struct collective *what, int n, bool in_turn, int *last)
{
    int late = 0;
    MPI_Comm comm;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int call = 1; call <= CALLS; call++) {
        double begin = MPI_Wtime();
        long before = faults();
        what->call(comm, n, in_turn ? call % world_size : 0);
        int now = MPI_Wtime() - begin < LONG_S ? (int)(faults() - before) : 0;
        if (call <= FIRST)
            MPI_Barrier(MPI_COMM_WORLD);
        if (call > FIRST && now != 0) {
            late += now;
            *last = call;
        }
    }
    return late;
}

/* Checks a collective. Repeats the check on failure, because the kernel may unmap a page for its
 * own reasons, but not twice. */
static void first_calls(const struct collective *what, int n, bool in_turn)
{
    int last = 0, late;

    for (int r = 0; r < world_size; r++) {
        counts[r] = n;
        starts[r] = r * n;
    }
    late = late_faults(what, n, in_turn, &last);
    if (sum_of_all(late) != 0)
        late = late_faults(what, n, in_turn, &last);
    check(late == 0, "%s of %d bytes%s: %d page faults after call %d, the last in call %d",
          what->name, n, in_turn ? ", roots in turn" : "", late, FIRST, last);
}

int main(int argc, char **argv)
{
    static const int sizes[] = { 512, 4088 };

    begin(&argc, &argv, MPI_THREAD_SINGLE);
    in = allocate((size_t)world_size * MAX_BYTES);
    out = allocate((size_t)world_size * MAX_BYTES);
    memset(in, 1, (size_t)world_size * MAX_BYTES);
    memset(out, 1, (size_t)world_size * MAX_BYTES);
    for (size_t c = 0; c < sizeof collectives / sizeof *collectives; c++) {
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
            for (int turn = 0; turn <= collectives[c].rooted; turn++)
                first_calls(&collectives[c], sizes[s], turn == 1);
        section(collectives[c].name);
    }
    free(in);
    free(out);
    return finish("touches");
}
