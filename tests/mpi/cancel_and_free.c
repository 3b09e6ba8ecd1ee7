/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cancel_and_free.c - calls MPI_Cancel and MPI_Request_free for a nonblocking collective in flight.
 * MPI forbids both calls, and MPIs return different errors.
 *
 *   cancel_and_free [--beyond]    --beyond: with huddle, which returns other codes in the MPICH
 *                                 family
 *
 * The last rank enters the collective only after a message of rank 0, so the collective is in
 * flight.
 */
#include "check.h"

enum { TAG = 5 };

/* MPI_ERR_LASTCODE stands for any other error. */
static const struct expected {
    const char *version;
    int cancelled, freed;
    bool loses;
} own[] = {
    { "Open MPI", MPI_ERR_REQUEST, MPI_ERR_REQUEST, false },
    { "MPICH Version: 4", MPI_ERR_LASTCODE, MPI_ERR_LASTCODE, false },
    { "", MPI_ERR_LASTCODE, MPI_SUCCESS, true },
};
static const struct expected with_huddle[] = {
    { "Open MPI", MPI_ERR_REQUEST, MPI_ERR_REQUEST, false },
    { "", MPI_ERR_REQUEST, MPI_SUCCESS, false },
};

static const struct expected *find(const struct expected *row)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int bytes;

    MPI_Get_library_version(version, &bytes);
    for (char *c = version; *c; c++)
        if (*c == '\t')
            *c = ' ';
    while (strncmp(version, row->version, strlen(row->version)) != 0)
        row++;
    return row;
}

static void judge(const char *what, int code, int expected)
{
    int class = MPI_SUCCESS;

    if (code != MPI_SUCCESS)
        MPI_Error_class(code, &class);
    if (expected == MPI_ERR_LASTCODE)
        check(class != MPI_SUCCESS && class != MPI_ERR_REQUEST, "%s: class %d", what, class);
    else
        check(class == expected, "%s: class %d, expected %d", what, class, expected);
}

static void one(MPI_Comm comm, const struct expected *expected)
{
    static int in, sum; /* static, because a freed request may continue */
    int last = world_size - 1, token = 0;
    bool is_freed = false;
    MPI_Request request;

    in = world_rank + 1;
    sum = 0;
    if (world_rank == last)
        MPI_Recv(&token, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Iallreduce(&in, &sum, 1, MPI_INT, MPI_SUM, comm, &request);
    if (world_rank != last) {
        judge("MPI_Cancel", MPI_Cancel(&request), expected->cancelled);
        judge("MPI_Request_free", MPI_Request_free(&request), expected->freed);
        is_freed = request == MPI_REQUEST_NULL;
        check(is_freed == (expected->freed == MPI_SUCCESS),
              "wrong request handle after MPI_Request_free");
    }
    if (world_rank == 0)
        MPI_Send(&token, 1, MPI_INT, last, TAG, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Barrier(comm);
    MPI_Barrier(comm);
    /* MPICH 5 and Intel MPI may never complete their own freed request */
    check((is_freed && expected->loses) || sum == world_size * (world_size + 1) / 2,
          "the sum is %d", sum);
}

int main(int argc, char **argv)
{
    MPI_Comm comm;

    begin(&argc, &argv, MPI_THREAD_SINGLE);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int turn = 0; turn < 6; turn++)
        one(comm, find(argc > 1 ? with_huddle : own));
    MPI_Comm_free(&comm);
    return finish("cancel_and_free");
}
