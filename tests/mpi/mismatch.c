/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mismatch.c - wrong programs that are common: ranks whose counts do not match, in one call of a
 * loop of right ones.
 *
 *     mismatch CALL SENT RECEIVED [OTHERS] [--go-on]
 *
 * Rank 1 gives SENT (and of an alltoall RECEIVED) integers where all others give OTHERS (10).
 * CALL: alltoall, bcast, reduce, allreduce.
 *
 * MPI leaves open what becomes of it; an MPI alone reports an error, or some ranks see nothing.
 * What must not happen is that huddle keeps ranks waiting without a word.  --go-on: errors are
 * returned; a rank that sees one makes no further call on the communicator, unless it was a
 * broadcast cut short, which leaves the communicator usable; all ranks must reach the end.
 */
#include "check.h"

enum { MOST = 1 << 20, RIGHT = 20 };

static int out[MOST], in[MOST];

static int call(const char *name, int count, int received)
{
    int root = world_size - 1;

    if (strcmp(name, "alltoall") == 0)
        return MPI_Alltoall(in, count, MPI_INT, out, received, MPI_INT, MPI_COMM_WORLD);
    if (strcmp(name, "bcast") == 0)
        return MPI_Bcast(out, count, MPI_INT, root, MPI_COMM_WORLD);
    if (strcmp(name, "reduce") == 0)
        return MPI_Reduce(in, out, count, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
    return MPI_Allreduce(in, out, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    if (argc < 4)
        return 2;
    int others = argc > 4 && argv[4][0] != '-' ? atoi(argv[4]) : 10;
    int count = world_rank == 1 ? atoi(argv[2]) : others,
        received = world_rank == 1 ? atoi(argv[3]) : others, class = MPI_SUCCESS;

    if (strcmp(argv[argc - 1], "--go-on") == 0)
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int i = 0; i < RIGHT; i++)
        call(argv[1], others, others);
    MPI_Error_class(call(argv[1], count, received), &class);
    if (class == MPI_SUCCESS || (count < others && strcmp(argv[1], "bcast") == 0))
        MPI_Error_class(MPI_Barrier(MPI_COMM_WORLD), &class);
    printf("rank %d is through: error class %d\n", world_rank, class);
    MPI_Finalize();
    return 0;
}
