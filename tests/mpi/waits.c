/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * waits.c - rank 0 has a nonblocking collective in flight and waits in another call of MPI. The
 * other ranks make this call only after their part of the collective is complete. So the wait must
 * progress the collective. A failure shows as a job that does not end.
 */
#include "check.h"

enum { COUNT = 100000, TAG = 7 };

static int *in, *out;
static MPI_Comm other; /* a second communicator of all ranks */
static MPI_Win window;
static MPI_Datatype wide;
static MPI_Op own;

static void take_last(void *from, void *to, int *count, MPI_Datatype *type)
{
    (void)from, (void)to, (void)count, (void)type;
}

/* Makes a rank's part of the call. Rank 0 waits in the call for the others. The functions below do
 * so for other calls. */
static void receive(void)
{
    int got = -1;

    if (world_rank == 0)
        MPI_Recv(&got, 1, MPI_INT, 1, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else if (world_rank == 1)
        MPI_Send(&world_rank, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD);
}

static void complete_receive(void)
{
    MPI_Request request;
    int got = -1;

    if (world_rank != 0) {
        receive();
        return;
    }
    MPI_Irecv(&got, 1, MPI_INT, 1, TAG, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void probe(void)
{
    int there = 0;

    while (world_rank == 0 && !there)
        MPI_Iprobe(1, TAG, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
    receive();
}

static void send(void)
{
    int got;

    if (world_rank == 0)
        MPI_Ssend(&world_rank, 1, MPI_INT, 1, TAG, MPI_COMM_WORLD);
    else if (world_rank == 1)
        MPI_Recv(&got, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void duplicate(void)
{
    MPI_Comm copy;

    MPI_Comm_dup(other, &copy);
    MPI_Comm_free(&copy);
}

static void fence(void)
{
    MPI_Win_fence(0, window);
}

/* Reduces elements so large that the call falls back to the MPI. */
static void reduce_wide(void)
{
    static char from[8000], to[8000];

    MPI_Allreduce(from, to, 1, wide, own, other);
}

static const struct {
    const char *name;
    void (*call)(void);
} calls[] = {
    { "MPI_Recv", receive },          { "MPI_Wait", complete_receive },
    { "MPI_Iprobe", probe },          { "MPI_Ssend", send },
    { "MPI_Comm_dup", duplicate },    { "MPI_Win_fence", fence },
    { "MPI_Allreduce", reduce_wide },
};

static void wait_in(int i)
{
    MPI_Request request;

    memset(out, 0xff, (size_t)world_size * COUNT * sizeof *out);
    MPI_Iallgather(in, COUNT, MPI_INT, out, COUNT, MPI_INT, MPI_COMM_WORLD, &request);
    if (world_rank != 0)
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    calls[i].call();
    if (world_rank == 0)
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int r = 0; r < world_size; r++)
        check(out[(size_t)r * COUNT] == r && out[(size_t)r * COUNT + COUNT - 1] == r,
              "%s: the block of rank %d is wrong", calls[i].name, r);
    section(calls[i].name);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv, MPI_THREAD_SINGLE);
    in = malloc(COUNT * sizeof *in);
    out = malloc((size_t)world_size * COUNT * sizeof *out);
    for (int i = 0; i < COUNT; i++)
        in[i] = world_rank;
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    MPI_Win_create(out, 0, 1, MPI_INFO_NULL, other, &window);
    MPI_Type_contiguous(8000, MPI_BYTE, &wide);
    MPI_Type_commit(&wide);
    MPI_Op_create(take_last, 1, &own);
    for (int i = 0; i < (int)(sizeof calls / sizeof *calls); i++)
        wait_in(i);
    MPI_Op_free(&own);
    MPI_Type_free(&wide);
    MPI_Win_free(&window);
    MPI_Comm_free(&other);
    free(in);
    free(out);
    return finish("waits");
}
