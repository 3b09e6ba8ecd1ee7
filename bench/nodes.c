/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * nodes.c - times of collectives between nodes, for nodes.py and huddle tune --network.
 *
 *   nodes [--count] COLLECTIVE:BYTES:CALLS...
 *
 * Before each call the ranks synchronise by their own messages, which are the same for all
 * implementations of the collectives.  The slowest rank's time is the time of a call.  Rank 0
 * prints a line for each word: its collective, its bytes, then the times of all calls, in us.
 * Earlier warm-up calls, a tenth and one, do not count.
 *
 * --count: counters of the links instead, of back-to-back calls.  A line has the bytes that a call
 * brought into a node and out of it, and the packets out of it, of the node with the maximum.
 */
#include <dirent.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_BYTES = 24, PATH_BYTES = 400, COUNTERS = 3 };

static const char *const counters[COUNTERS] = { "rx_bytes", "tx_bytes", "tx_packets" };

struct buffers {
    char *in, *out;
    int bytes; /* size of the message, or of all blocks if each rank has a block */
    int ranks;
};

struct asked {
    char name[NAME_BYTES];
    int calls;
    struct buffers buffers;
    void (*make)(const struct buffers *b);
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

static int block_numbers(const struct buffers *b)
{
    return b->bytes / b->ranks / (int)sizeof(double);
}

static void make_reduce_scatter(const struct buffers *b)
{
    MPI_Reduce_scatter_block(b->in, b->out, block_numbers(b), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void make_allgather(const struct buffers *b)
{
    MPI_Allgather(b->in, block_numbers(b), MPI_DOUBLE, b->out, block_numbers(b), MPI_DOUBLE,
                  MPI_COMM_WORLD);
}

static const struct {
    const char *name;
    void (*make)(const struct buffers *b);
} collectives[] = { { "barrier", make_barrier },
                    { "bcast", make_bcast },
                    { "allreduce", make_allreduce },
                    { "reduce_scatter", make_reduce_scatter },
                    { "allgather", make_allgather } };

/* Synchronises the ranks by dissemination. */
static void meet(int rank, int size)
{
    for (int k = 1; k < size; k *= 2)
        MPI_Sendrecv(NULL, 0, MPI_BYTE, (rank + k) % size, 1, NULL, 0, MPI_BYTE,
                     (rank - k + size) % size, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static int warm_up(const struct asked *a)
{
    return a->calls / 10 + 1;
}

/* ---- times ---- */

static void measure(const struct asked *a, int rank, int size)
{
    double *us = calloc((size_t)a->calls, sizeof *us),
           *slowest = calloc((size_t)a->calls, sizeof *us);

    if (!us || !slowest)
        MPI_Abort(MPI_COMM_WORLD, 2);
    for (int i = -warm_up(a); i < a->calls; i++) {
        meet(rank, size);
        double start = MPI_Wtime();
        a->make(&a->buffers);
        if (i >= 0)
            us[i] = 1e6 * (MPI_Wtime() - start);
    }
    MPI_Reduce(us, slowest, a->calls, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("nodes %s %d", a->name, a->buffers.bytes);
        for (int i = 0; i < a->calls; i++)
            printf(" %.1f", slowest[i]);
        printf("\n");
    }
    free(us);
    free(slowest);
}

/* ---- counters ---- */

static double counter_of(const char *link, const char *counter)
{
    char path[PATH_BYTES];
    double value = 0;

    snprintf(path, sizeof path, "/sys/class/net/%s/statistics/%s", link, counter);
    FILE *file = fopen(path, "r");
    if (file && fscanf(file, "%lf", &value) != 1)
        value = 0;
    if (file)
        fclose(file);
    return value;
}

static void read_counters(double *sum)
{
    DIR *links = opendir("/sys/class/net");

    memset(sum, 0, COUNTERS * sizeof *sum);
    for (struct dirent *link; links && (link = readdir(links));)
        for (int i = 0; i < COUNTERS && link->d_name[0] != '.' && strcmp(link->d_name, "lo"); i++)
            sum[i] += counter_of(link->d_name, counters[i]);
    if (links)
        closedir(links);
}

static void count(const struct asked *a, int rank, int size)
{
    double before[COUNTERS], after[COUNTERS], most[COUNTERS];

    for (int i = 0; i < warm_up(a); i++)
        a->make(&a->buffers);
    meet(rank, size);
    read_counters(before);
    meet(rank, size); /* no rank is ahead */
    for (int i = 0; i < a->calls; i++)
        a->make(&a->buffers);
    meet(rank, size);
    read_counters(after);
    for (int i = 0; i < COUNTERS; i++)
        after[i] = (after[i] - before[i]) / a->calls;
    MPI_Reduce(after, most, COUNTERS, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("nodes %s %d %.1f %.1f %.1f\n", a->name, a->buffers.bytes, most[0], most[1],
               most[2]);
}

/* ---- main ---- */

static int run(const char *word, bool counted, int rank, int size)
{
    struct asked a;
    int bytes;
    size_t which = 0, known = sizeof collectives / sizeof *collectives;

    if (sscanf(word, "%23[a-z_]:%d:%d", a.name, &bytes, &a.calls) != 3 || bytes < 0 || a.calls < 1)
        return -1;
    while (which < known && strcmp(collectives[which].name, a.name) != 0)
        which++;
    size_t room = (size_t)bytes + (size_t)size * sizeof(double);
    a.buffers = (struct buffers){ calloc(room, 1), calloc(room, 1), bytes, size };
    if (which == known || !a.buffers.in || !a.buffers.out)
        return -1;
    a.make = collectives[which].make;
    (counted ? count : measure)(&a, rank, size);
    free(a.buffers.in);
    free(a.buffers.out);
    return 0;
}

int main(int argc, char **argv)
{
    int rank, size, failed = 0;
    bool counted = argc > 1 && strcmp(argv[1], "--count") == 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 1 + counted; i < argc && !failed; i++)
        failed = run(argv[i], counted, rank, size);
    if (failed) {
        fprintf(stderr, "nodes: an argument is not understood, or there is not enough memory\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    MPI_Finalize();
    return 0;
}
