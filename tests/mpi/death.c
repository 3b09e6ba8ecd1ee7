/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * death.c - a rank's process dies in the middle of collectives, under a launcher that lets the job
 * continue.
 *
 *     death COLLECTIVE [--recover [--first]]
 *
 * Rank 1 kills itself after some rounds, or with --first before the first round. COLLECTIVE is
 * barrier, bcast, reduce, allreduce or alltoall, with 1 KB and 1 MB alternately. Without ULFM the
 * other ranks then wait forever, as under the MPI alone, and the test reads the line that huddle
 * prints. With --recover, which needs ULFM, every survivor's call fails with MPI_ERR_PROC_FAILED or
 * MPI_ERR_REVOKED, and the survivors shrink the communicator and continue.
 */
#include "check.h"

#include <signal.h>
#include <unistd.h>

#if defined(OPEN_MPI)
/* Declares functions of Open MPI 5. They are weak, so that the same program runs under 4.1, with
 * whose compiler wrapper the program is built. */
extern int MPIX_Comm_revoke(MPI_Comm comm) __attribute__((weak));
extern int MPIX_Comm_shrink(MPI_Comm comm, MPI_Comm *shrunk) __attribute__((weak));
#endif

enum { ROUNDS = 30, MAX_COUNT = 1 << 18, ERR_PROC_FAILED = 75, ERR_REVOKED = 77 };

static int out[16 * MAX_COUNT], in[16 * MAX_COUNT];

static int call(const char *name, int count, MPI_Comm comm)
{
    if (strcmp(name, "barrier") == 0)
        return MPI_Barrier(comm);
    if (strcmp(name, "bcast") == 0)
        return MPI_Bcast(out, count, MPI_INT, 0, comm);
    if (strcmp(name, "reduce") == 0)
        return MPI_Reduce(in, out, count, MPI_INT, MPI_SUM, 0, comm);
    if (strcmp(name, "alltoall") == 0)
        return MPI_Alltoall(in, count / world_size, MPI_INT, out, count / world_size, MPI_INT,
                            comm);
    return MPI_Allreduce(in, out, count, MPI_INT, MPI_SUM, comm);
}

static int rounds(const char *name, MPI_Comm comm, int victim, int last)
{
    int class = MPI_SUCCESS;

    for (int i = 0; i < 2 * ROUNDS && class == MPI_SUCCESS; i++) {
        if (i == last && world_rank == victim)
            kill(getpid(), SIGKILL);
        MPI_Error_class(call(name, i % 2 ? MAX_COUNT : 256, comm), &class);
    }
    return class;
}

static int recover(const char *name)
{
#if defined(OPEN_MPI)
    MPI_Comm left;
    int sum = 0, one = 1, size;

    if (MPIX_Comm_revoke == NULL || MPIX_Comm_revoke(MPI_COMM_WORLD) != MPI_SUCCESS ||
        MPIX_Comm_shrink(MPI_COMM_WORLD, &left) != MPI_SUCCESS)
        return 1;
    MPI_Comm_size(left, &size);
    MPI_Comm_set_name(left, "the survivors");
    check(rounds(name, left, -1, 0) == MPI_SUCCESS, "the survivors' %s failed", name);
    check(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, left) == MPI_SUCCESS && sum == size,
          "the survivors' sum is %d of %d", sum, size);
    if (failures > 0)
        return 1;
    printf("rank %d recovered: %d survivors\n", world_rank, size);
    fflush(stdout);
    return 0;
#else
    (void)name;
    return 1;
#endif
}

int main(int argc, char **argv)
{
    bool recovers = argc > 2 && strcmp(argv[2], "--recover") == 0,
         first = argc > 3 && strcmp(argv[3], "--first") == 0;

    if (argc < 2)
        return 2;
    begin(&argc, &argv, MPI_THREAD_SINGLE);
    if (recovers)
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int class = rounds(argv[1], MPI_COMM_WORLD, 1, first ? 0 : ROUNDS);
    if (recovers) {
        check(class == ERR_PROC_FAILED || class == ERR_REVOKED ||
                  (class == MPI_SUCCESS && strcmp(argv[1], "barrier") != 0),
              "error class %d", class);
        failures += recover(argv[1]);
    }
    MPI_Finalize();
    return failures != 0;
}
