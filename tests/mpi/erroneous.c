/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * erroneous.c - makes collectives with an uncommitted type and with MPI_DATATYPE_NULL. The error
 * must reach the error handler of the call's communicator once, and no other handler.
 *
 * MPI_COMM_WORLD and MPI_COMM_SELF keep MPI_ERRORS_ARE_FATAL, so an error that reaches them ends
 * the job. All ranks make the same mistake, so no rank waits for another.
 */
#include "check.h"

enum { ROOM = 64 };

static MPI_Comm comm;
static MPI_Datatype type;
static MPI_Op op;
static int in[ROOM], out[ROOM], counts[ROOM], places[ROOM];
static int handled, seen; /* calls of the handler; the latest error class passed to it */

static void handler(MPI_Comm *of, int *code, ...)
{
    handled++;
    MPI_Error_class(*code, &seen);
    check(*of == comm, "the handler is called for another communicator");
}

static const MPI_Datatype *types(void)
{
    static MPI_Datatype array[ROOM];

    for (int i = 0; i < ROOM; i++)
        array[i] = type;
    return array;
}

#define CALLS(CALL)                                                                                \
    CALL(bcast, in, 1, type, 0)                                                                    \
    CALL(alltoall, in, 1, type, out, 1, type)                                                      \
    CALL(alltoallv, in, counts, places, type, out, counts, places, type)                           \
    CALL(alltoallw, in, counts, places, types(), out, counts, places, types())                     \
    CALL(allgather, in, 1, type, out, 1, type)                                                     \
    CALL(allgatherv, in, 1, type, out, counts, places, type)                                       \
    CALL(gather, in, 1, type, out, 1, type, 0)                                                     \
    CALL(reduce, in, out, 1, type, op, 0)                                                          \
    CALL(allreduce, in, out, 1, type, op)                                                          \
    CALL(scan, in, out, 1, type, op)                                                               \
    CALL(reduce_scatter_block, in, out, 1, type, op)

#define MPI_bcast MPI_Bcast
#define MPI_reduce MPI_Reduce
#define MPI_allreduce MPI_Allreduce
#define MPI_scan MPI_Scan
#define MPI_reduce_scatter_block MPI_Reduce_scatter_block
#define MPI_alltoall MPI_Alltoall
#define MPI_alltoallv MPI_Alltoallv
#define MPI_alltoallw MPI_Alltoallw
#define MPI_allgather MPI_Allgather
#define MPI_allgatherv MPI_Allgatherv
#define MPI_gather MPI_Gather
#define DEFINE(name, ...)                                                                          \
    static int name(void)                                                                          \
    {                                                                                              \
        return MPI_##name(__VA_ARGS__, comm);                                                      \
    }                                                                                              \
    static int i##name(MPI_Request *request)                                                       \
    {                                                                                              \
        return MPI_I##name(__VA_ARGS__, comm, request);                                            \
    }
CALLS(DEFINE)

static const struct {
    const char *name;
    int (*block)(void);
    int (*start)(MPI_Request *request);
} calls[] = {
#define ROW(name, ...) { #name, name, i##name },
    CALLS(ROW)
};
enum { CALLS_COUNT = sizeof calls / sizeof *calls, REDUCTIONS = 4 };

static void add(void *from, void *to, int *count, MPI_Datatype *of)
{
    (void)from, (void)to, (void)count, (void)of;
}

static void judge(int what, const char *form, int code, bool by_handler)
{
    int class = MPI_SUCCESS;

    if (code != MPI_SUCCESS)
        MPI_Error_class(code, &class);
    else
        class = by_handler ? seen : class;
    check(class == MPI_ERR_TYPE, "%s%s: wrong error class %d", form, calls[what].name, class);
    check(handled == by_handler, "%s%s: %d handler calls", form, calls[what].name, handled);
    handled = 0;
}

/* Starts an erroneous call with another request in flight. The error may be reported by the start
 * or by the waits. */
static void behind_another(int what, bool by_handler)
{
    MPI_Request first, second = MPI_REQUEST_NULL;
    int one = 1, sum = 0;

    MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm, &first);
    int code = calls[what].start(&second);
    if (code == MPI_SUCCESS)
        MPI_Wait(&second, MPI_STATUS_IGNORE);
    MPI_Wait(&first, MPI_STATUS_IGNORE);
    check(sum == world_size, "i%s: wrong sum %d of the call before", calls[what].name, sum);
    judge(what, "behind another, i", code, by_handler);
}

static void one(int what, bool by_handler)
{
    MPI_Request request = MPI_REQUEST_NULL;
    int token = world_rank;

    judge(what, "", calls[what].block(), by_handler);
    judge(what, "i", calls[what].start(&request), by_handler);
    if (by_handler) /* MPI_Wait may lose an error that is returned: docs/limitations.md */
        behind_another(what, by_handler);
    MPI_Bcast(&token, 1, MPI_INT, what % world_size, comm);
    check(token == what % world_size, "%s: wrong broadcast of %d afterwards", calls[what].name,
          token);
}

int main(int argc, char **argv)
{
    MPI_Datatype uncommitted;
    MPI_Errhandler own;

    begin(&argc, &argv, MPI_THREAD_SINGLE);
    for (int i = 0; i < ROOM; i++)
        counts[i] = 1;
    MPI_Type_contiguous(1, MPI_INT, &uncommitted);
    MPI_Op_create(add, 1, &op);
    MPI_Comm_create_errhandler(handler, &own);
    for (int turn = 0; turn < 4; turn++) {
        bool by_handler = turn % 2;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Comm_set_errhandler(comm, by_handler ? own : MPI_ERRORS_RETURN);
        type = turn < 2 ? uncommitted : MPI_DATATYPE_NULL;
        /* MPICH 5's own MPI_Reduce crashes with MPI_DATATYPE_NULL */
        for (int what = 0; what < CALLS_COUNT - (turn < 2 ? 0 : REDUCTIONS); what++)
            one(what, by_handler);
        MPI_Comm_free(&comm);
        section(turn < 2 ? "uncommitted" : "null");
    }
    MPI_Errhandler_free(&own);
    MPI_Op_free(&op);
    MPI_Type_free(&uncommitted);
    return finish("erroneous");
}
