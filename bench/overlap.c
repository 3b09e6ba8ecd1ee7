/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * overlap.c - how much of a nonblocking collective hides behind computation, for overlap.py.  Rank
 * 0 prints a line for each collective and size: bytes, and three medians of the slowest rank, in
 * us: start and wait alone; the computation alone; both, with a test after each piece of
 * computation.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CALLS = 200, PIECES = 20, MAX_BYTES = 4 << 20 };
static const double piece_us = 10;

static double now_us(void)
{
    return 1e6 * MPI_Wtime();
}

static double sum;

/* Computes dependent additions for piece_us. */
static void compute(void)
{
    double end = now_us() + piece_us;

    while (now_us() < end)
        for (int i = 0; i < 50; i++)
            sum += i;
}

struct buffers {
    char *in, *out;
    int bytes;
};

static void start_allreduce(const struct buffers *b, MPI_Request *request)
{
    MPI_Iallreduce(b->in, b->out, b->bytes / (int)sizeof(double), MPI_DOUBLE, MPI_SUM,
                   MPI_COMM_WORLD, request);
}

static void start_bcast(const struct buffers *b, MPI_Request *request)
{
    MPI_Ibcast(b->in, b->bytes, MPI_BYTE, 0, MPI_COMM_WORLD, request);
}

static void start_allgather(const struct buffers *b, MPI_Request *request)
{
    MPI_Iallgather(b->in, b->bytes, MPI_BYTE, b->out, b->bytes, MPI_BYTE, MPI_COMM_WORLD, request);
}

static const struct {
    const char *name;
    void (*start)(const struct buffers *b, MPI_Request *request);
} collectives[] = { { "iallreduce", start_allreduce },
                    { "ibcast", start_bcast },
                    { "iallgather", start_allgather } };

/* Measures a call, a computation, or both.  Returns the slowest rank's time in us. */
static double take(int c, const struct buffers *b, int call, int computes)
{
    MPI_Request request = MPI_REQUEST_NULL;
    int done;

    MPI_Barrier(MPI_COMM_WORLD);
    double begin = now_us(), took, slowest;
    if (call)
        collectives[c].start(b, &request);
    for (int i = 0; computes && i < PIECES; i++) {
        compute();
        if (call)
            MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    took = now_us() - begin;
    MPI_Allreduce(&took, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return slowest;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    static const int sizes[] = { 8, 64 << 10, 1 << 20, MAX_BYTES };
    static double took[3][CALLS];
    int rank, ranks;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    struct buffers b = { .in = calloc(MAX_BYTES, 1), .out = calloc((size_t)ranks, MAX_BYTES) };
    if (!b.in || !b.out)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int c = 0; c < 3; c++)
        for (int s = 0; s < 4; s++) {
            b.bytes = sizes[s];
            for (int i = 0; i < CALLS; i++) {
                took[0][i] = take(c, &b, 1, 0);
                took[1][i] = take(c, &b, 0, 1);
                took[2][i] = take(c, &b, 1, 1);
            }
            for (int k = 0; k < 3; k++)
                qsort(took[k], CALLS, sizeof took[k][0], compare);
            if (rank == 0)
                printf("overlap %s %d %.2f %.2f %.2f\n", collectives[c].name, b.bytes,
                       took[0][CALLS / 2], took[1][CALLS / 2], took[2][CALLS / 2]);
            fflush(stdout);
        }
    free(b.in);
    free(b.out);
    MPI_Finalize();
    return 0;
}
