/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * large.c - calls the functions for large counts, like a program built for MPIs with and without
 * these functions: if the symbol is present, it must work.
 */
#include "check.h"

#if MPI_VERSION < 4
#define WEAK __attribute__((weak))
typedef MPI_Aint large;
WEAK int MPI_Allreduce_c(const void *in, void *out, large count, MPI_Datatype type, MPI_Op op,
                         MPI_Comm comm);
WEAK int MPI_Reduce_scatter_c(const void *in, void *out, const large counts[], MPI_Datatype type,
                              MPI_Op op, MPI_Comm comm);
WEAK int MPI_Alltoallv_c(const void *in, const large ins[], const MPI_Aint from[],
                         MPI_Datatype in_type, void *out, const large outs[], const MPI_Aint to[],
                         MPI_Datatype out_type, MPI_Comm comm);
WEAK int MPI_Alltoallw_c(const void *in, const large ins[], const MPI_Aint from[],
                         const MPI_Datatype in_types[], void *out, const large outs[],
                         const MPI_Aint to[], const MPI_Datatype out_types[], MPI_Comm comm);
WEAK int MPI_Neighbor_allgather_c(const void *in, large ins, MPI_Datatype in_type, void *out,
                                  large outs, MPI_Datatype out_type, MPI_Comm comm);
WEAK int MPI_Neighbor_allgatherv_c(const void *in, large ins, MPI_Datatype in_type, void *out,
                                   const large outs[], const MPI_Aint to[], MPI_Datatype out_type,
                                   MPI_Comm comm);
WEAK int MPI_Neighbor_alltoallv_c(const void *in, const large ins[], const MPI_Aint from[],
                                  MPI_Datatype in_type, void *out, const large outs[],
                                  const MPI_Aint to[], MPI_Datatype out_type, MPI_Comm comm);
WEAK int MPI_Ineighbor_alltoallw_c(const void *in, const large ins[], const MPI_Aint from[],
                                   const MPI_Datatype in_types[], void *out, const large outs[],
                                   const MPI_Aint to[], const MPI_Datatype out_types[],
                                   MPI_Comm comm, MPI_Request *request);
WEAK int MPI_Iallreduce_c(const void *in, void *out, large count, MPI_Datatype type, MPI_Op op,
                          MPI_Comm comm, MPI_Request *request);
#define IS_THERE(name) (name != NULL)
#else
typedef MPI_Count large;
#define IS_THERE(name) true
#endif

enum { RANKS_MAX = 64 };

/* Returns a number sent from rank `from` to rank `to`. The message has to + 1 numbers. */
static int number(int from, int to, int index)
{
    return from * 10000 + to * 100 + index;
}

static large counts[2][RANKS_MAX];
static MPI_Aint places[2][RANKS_MAX];
static MPI_Datatype types[RANKS_MAX];
static int sent[RANKS_MAX * RANKS_MAX], got[RANKS_MAX * RANKS_MAX];

static void describe(MPI_Aint unit)
{
    for (int r = 0, at = 0; r < world_size; at += ++r) {
        counts[0][r] = r + 1;
        counts[1][r] = world_rank + 1;
        places[0][r] = at * unit;
        places[1][r] = r * RANKS_MAX * unit;
        types[r] = MPI_INT;
        for (int i = 0; i <= r; i++)
            sent[at + i] = number(world_rank, r, i);
    }
    memset(got, 0, sizeof got);
}

static void judge(const char *name, int error)
{
    bool good = error == MPI_SUCCESS;

    for (int r = 0; r < world_size; r++)
        for (int i = 0; i <= world_rank; i++)
            good = good && got[r * RANKS_MAX + i] == number(r, world_rank, i);
    check(good, "%s: error %d or wrong numbers", name, error);
}

static void exchange(void)
{
    describe(1);
    judge("MPI_Alltoallv_c", MPI_Alltoallv_c(sent, counts[0], places[0], MPI_INT, got, counts[1],
                                             places[1], MPI_INT, MPI_COMM_WORLD));
    describe(sizeof(int));
    judge("MPI_Alltoallw_c", MPI_Alltoallw_c(sent, counts[0], places[0], types, got, counts[1],
                                             places[1], types, MPI_COMM_WORLD));
}

/* Exchanges in place. The send counts must not be read. */
static void exchange_in_place(void)
{
    bool good = true;

    describe(1);
    for (int r = 0; r < world_size; r++) {
        counts[1][r] = 1;
        places[1][r] = r;
        got[r] = number(world_rank, r, 0);
    }
    int error = MPI_Alltoallv_c(MPI_IN_PLACE, NULL, NULL, MPI_INT, got, counts[1], places[1],
                                MPI_INT, MPI_COMM_WORLD);
    for (int r = 0; r < world_size; r++)
        good = good && got[r] == number(r, world_rank, 0);
    check(error == MPI_SUCCESS && good, "MPI_Alltoallv_c in place: error %d or wrong numbers",
          error);
}

static void reduce(void)
{
    int one = 1, sum = 0;

    describe(1);
    int error = MPI_Allreduce_c(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    check(error == MPI_SUCCESS && sum == world_size, "MPI_Allreduce_c: error %d, sum %d", error,
          sum);
    error = MPI_Reduce_scatter_c(sent, got, counts[0], MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    check(error == MPI_SUCCESS && got[0] == number(world_size - 1, world_rank, 0) &&
              got[world_rank + 1] == 0,
          "MPI_Reduce_scatter_c: error %d, first %d", error, got[0]);
}

/* Adds, for a user-defined operation. In the tests on a ring below a rank sends a different number
 * of elements to each side. The nonblocking exchange follows a sum by this operation, which may
 * fall back to the MPI; both number their calls in MPI's order. */
static void add(void *in, void *out, int *count, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *count; i++)
        ((int *)out)[i] += ((int *)in)[i];
}

static void judge_ring(const char *name, int error, int left_count, int right_count, MPI_Comm ring)
{
    int left, right;
    bool good = error == MPI_SUCCESS;

    MPI_Cart_shift(ring, 0, 1, &left, &right);
    for (int i = 0; i < left_count; i++)
        good = good && got[i] == number(left, 2, i);
    for (int i = 0; i < right_count; i++)
        good = good && got[10 + i] == number(right, 1, i);
    good = good && got[left_count] == 0 && got[10 + right_count] == 0;
    check(good, "%s: error %d or wrong numbers", name, error);
    memset(got, 0, sizeof got);
}

static void neighbors(void)
{
    large ins[2] = { 1, 2 }, outs[2] = { 2, 1 }, both[2] = { 1, 1 };
    MPI_Aint from[2] = { 0, 10 }, bytes[2] = { 0, 10 * sizeof(int) };
    int size = world_size, periodic = 1, sum = 0, one = 1;
    MPI_Request request[2];
    MPI_Status statuses[2];
    MPI_Comm ring;
    MPI_Op op;

    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &ring);
    MPI_Op_create(add, 1, &op);
    describe(1);
    for (int i = 0; i < 2; i++) {
        sent[i] = number(world_rank, 1, i);
        sent[10 + i] = number(world_rank, 2, i);
    }
    if (world_size > 2) { /* otherwise both neighbors are the same rank */
        judge_ring(
            "MPI_Neighbor_alltoallv_c",
            MPI_Neighbor_alltoallv_c(sent, ins, from, MPI_INT, got, outs, from, MPI_INT, ring), 2,
            1, ring);
        MPI_Iallreduce_c(&one, &sum, 1, MPI_INT, op, ring, &request[0]);
        int error = MPI_Ineighbor_alltoallw_c(sent, ins, bytes, types, got, outs, bytes, types,
                                              ring, &request[1]);
        MPI_Waitall(2, request, statuses);
        judge_ring("MPI_Ineighbor_alltoallw_c", error, 2, 1, ring);
        check(sum == world_size, "the sum on the ring is %d", sum);
    }
    int mine = number(world_rank, 0, 0), left, right;
    MPI_Cart_shift(ring, 0, 1, &left, &right);
    int error = MPI_Neighbor_allgatherv_c(&mine, 1, MPI_INT, got, both, from, MPI_INT, ring);
    check(error == MPI_SUCCESS && got[0] == number(left, 0, 0) && got[10] == number(right, 0, 0),
          "MPI_Neighbor_allgatherv_c: error %d or wrong numbers", error);
    error = MPI_Neighbor_allgather_c(&mine, 1, MPI_INT, got, 1, MPI_INT, ring);
    check(error == MPI_SUCCESS && got[0] == number(left, 0, 0) && got[1] == number(right, 0, 0),
          "MPI_Neighbor_allgather_c: error %d or wrong numbers", error);
    MPI_Op_free(&op);
    MPI_Comm_free(&ring);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv, MPI_THREAD_SINGLE);
    if (world_size > RANKS_MAX || !IS_THERE(MPI_Alltoallv_c) || !IS_THERE(MPI_Alltoallw_c) ||
        !IS_THERE(MPI_Reduce_scatter_c) || !IS_THERE(MPI_Allreduce_c) ||
        !IS_THERE(MPI_Neighbor_alltoallv_c)) {
        if (world_rank == 0)
            printf("SKIP this MPI has no functions for large counts\n");
        MPI_Finalize();
        return 77;
    }
    exchange();
    exchange_in_place();
    reduce();
    neighbors();
    return finish("large");
}
