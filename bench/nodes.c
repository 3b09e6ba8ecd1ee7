/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * nodes.c - times of collectives between nodes, for nodes.py and huddle tune --network.
 *
 *   nodes COLLECTIVE:BYTES:CALLS...
 *
 * Before each call the ranks meet by messages of their own, the same with any collectives.  The
 * time of a call is that of the slowest rank.  Rank 0 prints a line for each word: its collective,
 * its bytes, then the times of all calls, in us.  Calls before them, a tenth and one, do not count.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_BYTES = 16 };

struct buffers {
    char *in, *out;
    int bytes;
};

static void make_barrier(const struct buffers *b)
{
    (void)b;
    MPI_Barrier(MPI_COMM_WORLD);
}

static void make_bcast(const struct buffers *b)
{
    MPI_Bcast(b->in, b->bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
}

static void make_allreduce(const struct buffers *b)
{
    MPI_Allreduce(b->in, b->out, b->bytes / (int)sizeof(double), MPI_DOUBLE, MPI_SUM,
                  MPI_COMM_WORLD);
}

static const struct {
    const char *name;
    void (*make)(const struct buffers *b);
} collectives[] = { { "barrier", make_barrier },
                    { "bcast", make_bcast },
                    { "allreduce", make_allreduce } };

/* Dissemination. */
static void meet(int rank, int size)
{
    for (int k = 1; k < size; k *= 2)
        MPI_Sendrecv(NULL, 0, MPI_BYTE, (rank + k) % size, 1, NULL, 0, MPI_BYTE,
                     (rank - k + size) % size, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static int measure(const char *word, int rank, int size)
{
    char name[NAME_BYTES];
    int bytes, calls;
    size_t which = 0, count = sizeof collectives / sizeof *collectives;

    if (sscanf(word, "%15[a-z]:%d:%d", name, &bytes, &calls) != 3 || bytes < 0 || calls < 1)
        return -1;
    while (which < count && strcmp(collectives[which].name, name) != 0)
        which++;
    struct buffers b = { calloc((size_t)bytes + 1, 1), calloc((size_t)bytes + 1, 1), bytes };
    double *us = calloc((size_t)calls, sizeof *us), *slowest = calloc((size_t)calls, sizeof *us);
    if (which == count || !b.in || !b.out || !us || !slowest)
        return -1;
    for (int i = -(calls / 10 + 1); i < calls; i++) {
        meet(rank, size);
        double start = MPI_Wtime();
        collectives[which].make(&b);
        if (i >= 0)
            us[i] = 1e6 * (MPI_Wtime() - start);
    }
    MPI_Reduce(us, slowest, calls, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("nodes %s %d", name, bytes);
        for (int i = 0; i < calls; i++)
            printf(" %.1f", slowest[i]);
        printf("\n");
    }
    free(b.in);
    free(b.out);
    free(us);
    free(slowest);
    return 0;
}

int main(int argc, char **argv)
{
    int rank, size, failed = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 1; i < argc && !failed; i++)
        failed = measure(argv[i], rank, size);
    if (failed) {
        fprintf(stderr, "nodes: a word is not understood, or there is no memory\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    MPI_Finalize();
    return 0;
}
