/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * returns.c - nonblocking calls that huddle does not handle, after a nonblocking collective that
 * waits for the last rank. This rank enters the collective only after a message of rank 0, which
 * rank 0 sends after its calls. So each call must return without other ranks. A failure shows as a
 * job that does not end.
 *
 *   returns [--threads]
 *
 * Each call is made on a new communicator, and on a communicator with an earlier call. Types, infos
 * and arrays that are needed only until a call returns are freed or overwritten afterwards.
 */
#include "check.h"

enum { EACH = 3, TAG = 7, SPOILED = -77 };

static MPI_Comm ring; /* has a topology in which each rank exchanges with both neighbors */
static MPI_Comm made;
static MPI_Info info;
static int in[2 * EACH], out[2 * EACH], counts[2], places[2];
static MPI_Aint bytes[2];
static MPI_Datatype type, types[2]; /* three integers; an array of this type */

static int allgather(MPI_Request *request)
{
    return MPI_Ineighbor_allgather(in, 1, type, out, 1, type, ring, request);
}

static int allgatherv(MPI_Request *request)
{
    return MPI_Ineighbor_allgatherv(in, 1, type, out, counts, places, type, ring, request);
}

static int alltoall(MPI_Request *request)
{
    return MPI_Ineighbor_alltoall(in, 1, type, out, 1, type, ring, request);
}

static int alltoallv(MPI_Request *request)
{
    return MPI_Ineighbor_alltoallv(in, counts, places, type, out, counts, places, type, ring,
                                   request);
}

static int alltoallw(MPI_Request *request)
{
    return MPI_Ineighbor_alltoallw(in, counts, bytes, types, out, counts, bytes, types, ring,
                                   request);
}

static int idup(MPI_Request *request)
{
    return MPI_Comm_idup(ring, &made, request);
}

static int idup_with_info(MPI_Request *request)
{
#if MPI_VERSION >= 4
    return MPI_Comm_idup_with_info(ring, info, &made, request);
#else
    return MPI_Comm_idup(ring, &made, request);
#endif
}

static const struct {
    const char *name;
    int (*call)(MPI_Request *request);
    bool copies;
} calls[] = {
    { "neighbours: allgather", allgather, false },
    { "allgatherv", allgatherv, false },
    { "alltoall", alltoall, false },
    { "alltoallv", alltoallv, false },
    { "alltoallw", alltoallw, false },
    { "MPI_Comm_idup", idup, true },
    { "MPI_Comm_idup_with_info", idup_with_info, true },
};

/* ---- one call -------------------------------------------------------------------------------- */

/* Makes a ring by one of three topology functions. */
static void make_ring(int way)
{
    enum { RANKS_MAX = 16 };
    int size[1] = { world_size }, around[1] = { 1 }, weights[2] = { 1, 1 },
        peers[2] = { (world_rank + world_size - 1) % world_size, (world_rank + 1) % world_size };
    int index[RANKS_MAX], edges[2 * RANKS_MAX];

    for (int i = 0; i < world_size; i++) {
        index[i] = 2 * i + 2;
        edges[2 * i] = (i + world_size - 1) % world_size;
        edges[2 * i + 1] = (i + 1) % world_size;
    }
    if (way == 0)
        MPI_Cart_create(MPI_COMM_WORLD, 1, size, around, 0, &ring);
    else if (way == 1)
        MPI_Graph_create(MPI_COMM_WORLD, world_size, index, edges, 0, &ring);
    else
        MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, peers, weights, 2, peers, weights,
                                       MPI_INFO_NULL, 0, &ring);
}

static void prepare(void)
{
    MPI_Type_contiguous(EACH, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Info_create(&info);
    for (int i = 0; i < 2; i++) {
        types[i] = type;
        counts[i] = 1;
        places[i] = i;
        bytes[i] = i * (MPI_Aint)(EACH * sizeof *in);
    }
    for (int i = 0; i < 2 * EACH; i++) {
        in[i] = world_rank;
        out[i] = -1;
    }
}

static void spoil(void)
{
    MPI_Type_free(&type);
    MPI_Info_free(&info);
    for (int i = 0; i < 2; i++) {
        counts[i] = places[i] = SPOILED;
        bytes[i] = SPOILED;
    }
}

/* Checks the results. With two ranks both neighbors are the same rank. */
static void look_at(int what)
{
    int before = (world_rank + world_size - 1) % world_size, after = (world_rank + 1) % world_size,
        sum = 0;

    if (calls[what].copies) {
        MPI_Allreduce(&world_rank, &sum, 1, MPI_INT, MPI_SUM, made);
        check(sum == world_size * (world_size - 1) / 2, "%s: wrong sum %d", calls[what].name, sum);
        MPI_Comm_free(&made);
        return;
    }
    for (int i = 0; i < 2 * EACH; i++)
        check(out[i] == (i < EACH ? before : after), "%s: wrong number %d at index %d",
              calls[what].name, out[i], i);
}

static void one(int what, bool used, int way)
{
    int last = world_size - 1, first = world_rank, second = world_rank;
    MPI_Request request[3];
    MPI_Status statuses[3];

    make_ring(way);
    if (used)
        MPI_Bcast(&first, 1, MPI_INT, last, ring);
    first = second = world_rank;
    prepare();
    if (world_rank == last)
        MPI_Recv(&(int){ 0 }, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Ibcast(&first, 1, MPI_INT, last, ring, &request[0]);
    check(calls[what].call(&request[1]) == MPI_SUCCESS, "%s failed", calls[what].name);
    spoil();
    MPI_Ibcast(&second, 1, MPI_INT, last, ring, &request[2]);
    if (world_rank == 0)
        MPI_Send(&last, 1, MPI_INT, last, TAG, MPI_COMM_WORLD);
    MPI_Waitall(3, request, statuses);
    check(first == last && second == last, "%s: wrong broadcasts of %d and %d", calls[what].name,
          first, second);
    look_at(what);
    MPI_Comm_free(&ring);
}

int main(int argc, char **argv)
{
    bool threads = argc > 1 && strcmp(argv[1], "--threads") == 0;

    begin(&argc, &argv, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE);
    for (int what = 0; what < (int)(sizeof calls / sizeof *calls); what++) {
        for (int turn = 0; turn < 12; turn++)
            one(what, turn % 2, turn / 2 % 3);
        section(calls[what].name);
    }
    return finish("returns");
}
