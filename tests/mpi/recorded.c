/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * recorded.c - a program with known collectives for test_record.py.
 *
 *   recorded end      makes each kind of call, and ends normally
 *   recorded abort    rank 1 calls MPI_Abort
 *   recorded wait     calls barriers until it is killed; prints "ready" first
 *   recorded quick    makes many quick calls at one place; for some of them a rank is late
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { CALLS = 20, LATE_US = 20000, RANKS = 64, QUICK = 20000 };

static void call_all(int rank, int size)
{
    int in[RANKS] = { 1 }, out[RANKS * 2], counts[RANKS], places[RANKS];
    const int none[RANKS] = { 0 }, one[RANKS] = { 1 };
    MPI_Comm half, self, ring;
    MPI_Request request;
    int periodic = 1;

    for (int i = 0; i < size; i++) {
        counts[i] = 1;
        places[i] = i;
    }
    for (int i = 0; i < CALLS; i++) {
        if (rank == size - 1)
            usleep(LATE_US);
        MPI_Allreduce(in, out, 4, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
    MPI_Bcast(in, 3, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, out, 4, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allgather(in, 1, MPI_INT, out, 1, MPI_INT, MPI_COMM_WORLD);
    MPI_Scatterv(in, counts, places, MPI_INT, out, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Alltoallv(in, counts, places, MPI_INT, out, counts, places, MPI_INT, MPI_COMM_WORLD);
    /* Only rank 0 sends. */
    MPI_Alltoallv(in, rank == 0 ? counts : none, places, MPI_INT, out, one, places, MPI_INT,
                  MPI_COMM_WORLD);
    MPI_Iallreduce(in, out, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &half);
    MPI_Comm_set_name(half, "reversed");
    MPI_Barrier(half);
    MPI_Comm_free(&half);
    MPI_Comm_dup(MPI_COMM_SELF, &self);
    MPI_Barrier(self);
    MPI_Comm_free(&self);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &ring);
    MPI_Neighbor_allgather(in, 1, MPI_INT, out, 1, MPI_INT, ring);
    MPI_Comm_free(&ring);
    MPI_Bcast(in, 0, MPI_INT, 0, MPI_COMM_WORLD);
}

static void call_quickly(int rank)
{
    int in = 1, out;

    for (int i = 0; i < QUICK; i++) {
        if (rank == 0 && i % 5000 > 4500)
            usleep(50);
        MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
}

int main(int count, char **words)
{
    int rank, size;

    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (strcmp(words[1], "quick") == 0) {
        call_quickly(rank);
        MPI_Finalize();
        return 0;
    }
    call_all(rank, size);
    if (strcmp(words[1], "abort") == 0 && rank == 1)
        MPI_Abort(MPI_COMM_WORLD, 3);
    if (strcmp(words[1], "end") != 0 && rank == 0) {
        puts("ready");
        fflush(stdout);
    }
    while (strcmp(words[1], "end") != 0) {
        usleep(1000);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
