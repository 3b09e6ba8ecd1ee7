/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * counts.c - counts of the functions for large counts. Counts that MPI ignores at a rank may have
 * any value. Invalid counts reach the error handler of the communicator, exactly once.
 */
#include "check.h"

#if MPI_VERSION < 4
typedef MPI_Aint large;
#define WEAK __attribute__((weak))
WEAK int MPI_Bcast_c(void *data, large count, MPI_Datatype type, int root, MPI_Comm comm);
WEAK int MPI_Ibcast_c(void *data, large count, MPI_Datatype type, int root, MPI_Comm comm,
                      MPI_Request *request);
WEAK int MPI_Allgather_c(const void *in, large ins, MPI_Datatype in_type, void *out, large outs,
                         MPI_Datatype out_type, MPI_Comm comm);
WEAK int MPI_Iallgather_c(const void *in, large ins, MPI_Datatype in_type, void *out, large outs,
                          MPI_Datatype out_type, MPI_Comm comm, MPI_Request *request);
WEAK int MPI_Allgatherv_c(const void *in, large ins, MPI_Datatype in_type, void *out,
                          const large outs[], const MPI_Aint to[], MPI_Datatype out_type,
                          MPI_Comm comm);
WEAK int MPI_Gather_c(const void *in, large ins, MPI_Datatype in_type, void *out, large outs,
                      MPI_Datatype out_type, int root, MPI_Comm comm);
WEAK int MPI_Gatherv_c(const void *in, large ins, MPI_Datatype in_type, void *out,
                       const large outs[], const MPI_Aint to[], MPI_Datatype out_type, int root,
                       MPI_Comm comm);
WEAK int MPI_Scatter_c(const void *in, large ins, MPI_Datatype in_type, void *out, large outs,
                       MPI_Datatype out_type, int root, MPI_Comm comm);
WEAK int MPI_Scatterv_c(const void *in, const large ins[], const MPI_Aint from[],
                        MPI_Datatype in_type, void *out, large outs, MPI_Datatype out_type,
                        int root, MPI_Comm comm);
WEAK int MPI_Alltoallv_c(const void *in, const large ins[], const MPI_Aint from[],
                         MPI_Datatype in_type, void *out, const large outs[], const MPI_Aint to[],
                         MPI_Datatype out_type, MPI_Comm comm);
WEAK int MPI_Neighbor_allgather_c(const void *in, large ins, MPI_Datatype in_type, void *out,
                                  large outs, MPI_Datatype out_type, MPI_Comm comm);
WEAK int MPI_Neighbor_allgatherv_c(const void *in, large ins, MPI_Datatype in_type, void *out,
                                   const large outs[], const MPI_Aint to[], MPI_Datatype out_type,
                                   MPI_Comm comm);
#define ARE_THERE (MPI_Bcast_c != NULL)
#else
typedef MPI_Count large;
#define ARE_THERE true
#endif

enum { RANKS_MAX = 16, ROOT = 1 };

static const large odd[] = { -1, (large)1 << 31, ((large)1 << 40) + 1, -((large)1 << 40) };
enum { ODD = sizeof odd / sizeof *odd };

static int mine, all[RANKS_MAX], want[RANKS_MAX];
static large ones[RANKS_MAX];
static MPI_Aint places[RANKS_MAX];

/* ---- ignored counts
 * --------------------------------------------------------------------------- */

static void reset(void)
{
    mine = 100 + world_rank;
    for (int r = 0; r < world_size; r++) {
        all[r] = r == world_rank || world_rank == ROOT ? 100 + r : -1;
        want[r] = 100 + r;
    }
}

static void judge_all(const char *name, int error)
{
    check(error == MPI_SUCCESS && memcmp(all, want, (size_t)world_size * sizeof *all) == 0,
          "%s: error %d or wrong numbers", name, error);
    reset();
}

static void in_place(large unread)
{
    MPI_Request request;

    judge_all("MPI_Allgather_c in place", MPI_Allgather_c(MPI_IN_PLACE, unread, MPI_DATATYPE_NULL,
                                                          all, 1, MPI_INT, MPI_COMM_WORLD));
    judge_all("MPI_Allgatherv_c in place",
              MPI_Allgatherv_c(MPI_IN_PLACE, unread, MPI_DATATYPE_NULL, all, ones, places, MPI_INT,
                               MPI_COMM_WORLD));
    int error = MPI_Iallgather_c(MPI_IN_PLACE, unread, MPI_DATATYPE_NULL, all, 1, MPI_INT,
                                 MPI_COMM_WORLD, &request);
    if (error == MPI_SUCCESS)
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    judge_all("MPI_Iallgather_c in place", error);
}

static void judge_one(const char *name, int error)
{
    check(error == MPI_SUCCESS && mine == 100 + world_rank, "%s: error %d, or wrong number %d",
          name, error, mine);
    reset();
}

/* Passes unread counts in rooted collectives. The root's own block is in place. */
static void rooted(large unread)
{
    bool here = world_rank == ROOT;
    large outs[RANKS_MAX];
    const void *from = here ? MPI_IN_PLACE : &mine;
    void *to = here ? MPI_IN_PLACE : &mine;
    large one = here ? unread : 1, others = here ? 1 : unread;

    for (int r = 0; r < RANKS_MAX; r++)
        outs[r] = others;
    all[ROOT] = 100 + ROOT;
    int error = MPI_Gather_c(from, one, MPI_INT, all, others, MPI_INT, ROOT, MPI_COMM_WORLD);
    check(error == MPI_SUCCESS && (!here || all[world_size - 1] == 100 + world_size - 1),
          "MPI_Gather_c: error %d or wrong numbers", error);
    error = MPI_Gatherv_c(from, one, MPI_INT, all, outs, places, MPI_INT, ROOT, MPI_COMM_WORLD);
    check(error == MPI_SUCCESS, "MPI_Gatherv_c: error %d", error);
    reset();
    if (!here)
        mine = -1;
    judge_one("MPI_Scatter_c",
              MPI_Scatter_c(all, others, MPI_INT, to, one, MPI_INT, ROOT, MPI_COMM_WORLD));
    if (!here)
        mine = -1;
    judge_one("MPI_Scatterv_c",
              MPI_Scatterv_c(all, outs, places, MPI_INT, to, one, MPI_INT, ROOT, MPI_COMM_WORLD));
}

/* Passes unread counts on an intercommunicator. Rank 0 sends to the odd ranks, and the other even
 * ranks do not take part. */
static void between(large unread)
{
    MPI_Comm part, inter;
    int group = world_rank % 2, root = group ? 0 : world_rank == 0 ? MPI_ROOT : MPI_PROC_NULL;

    MPI_Comm_split(MPI_COMM_WORLD, group, 0, &part);
    MPI_Intercomm_create(part, 0, MPI_COMM_WORLD, !group, 1, &inter);
    int others = group ? (world_size + 1) / 2 : world_size / 2;
    for (int i = 0; i < others; i++)
        all[i] = 101 + 2 * i;
    if (group)
        mine = -1;
    judge_one("MPI_Scatterv_c between groups",
              MPI_Scatterv_c(all, ones, places, MPI_INT, &mine, group ? 1 : unread, MPI_INT, root,
                             inter));
    mine = world_rank == 0 ? 7 : -1;
    /* all MPIs reject negative counts here */
    large none = root == MPI_PROC_NULL && unread > 0 ? unread : 1;
    int error = MPI_Bcast_c(&mine, none, MPI_INT, root, inter);
    check(error == MPI_SUCCESS && mine == (group || world_rank == 0 ? 7 : -1),
          "MPI_Bcast_c between groups: error %d or wrong number %d", error, mine);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&part);
    reset();
}

/* ---- invalid counts
 * --------------------------------------------------------------------------- */

static int handled, seen; /* calls of the handler; the latest error class passed to it */

static void handler(MPI_Comm *of, int *code, ...)
{
    (void)of;
    handled++;
    MPI_Error_class(*code, &seen);
}

static void judge_wrong(const char *name, int error, large count)
{
    int class = MPI_SUCCESS; /* MPICH 5 returns MPI_SUCCESS after the handler has returned */

    if (error != MPI_SUCCESS)
        MPI_Error_class(error, &class);
    check(handled == 1 && seen == MPI_ERR_COUNT && (error == MPI_SUCCESS || class == seen),
          "%s of %lld: class %d, %d handler calls, class %d in the handler", name, (long long)count,
          class, handled, seen);
    handled = 0;
}

/* Passes an invalid count at all ranks, so none waits for another. */
static void wrong(large count)
{
    large each[RANKS_MAX];
    int size = world_size, around = 1;
    MPI_Errhandler own;
    MPI_Comm ring;
    MPI_Request request = MPI_REQUEST_NULL;

    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &around, 0, &ring);
    MPI_Comm_create_errhandler(handler, &own);
    MPI_Comm_set_errhandler(ring, own);
    for (int r = 0; r < RANKS_MAX; r++)
        each[r] = count;
#define WRONG(call) judge_wrong(#call, MPI_##call, count)
    WRONG(Bcast_c(all, count, MPI_INT, 0, ring));
    WRONG(Ibcast_c(all, count, MPI_INT, 0, ring, &request));
    WRONG(Allgather_c(&mine, 1, MPI_INT, all, count, MPI_INT, ring));
    WRONG(Scatter_c(all, count, MPI_INT, &mine, count, MPI_INT, ROOT, ring));
    WRONG(Gatherv_c(&mine, count, MPI_INT, all, each, places, MPI_INT, ROOT, ring));
    WRONG(
        Alltoallv_c(all, each, places, MPI_INT, all + RANKS_MAX / 2, each, places, MPI_INT, ring));
    WRONG(Neighbor_allgather_c(&mine, count, MPI_INT, all, count, MPI_INT, ring));
    WRONG(Neighbor_allgatherv_c(&mine, 1, MPI_INT, all, each, places, MPI_INT, ring));
    MPI_Errhandler_free(&own);
    MPI_Comm_free(&ring);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv, MPI_THREAD_SINGLE);
    if (world_size > RANKS_MAX || world_size < 3 || !ARE_THERE) {
        if (world_rank == 0)
            printf("SKIP this MPI has no functions for large counts\n");
        MPI_Finalize();
        return 77;
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int r = 0; r < RANKS_MAX; r++) {
        ones[r] = 1;
        places[r] = r;
    }
    reset();
    for (int i = 0; i < ODD; i++) {
        in_place(odd[i]);
        rooted(odd[i]);
        between(odd[i]);
        if (odd[i] < 0) /* positive counts may be valid */
            wrong(odd[i]);
        section("counts");
    }
    return finish("counts");
}
