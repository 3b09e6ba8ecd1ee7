/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ended.c - calls between nodes that fail on some ranks. No rank may hang, no call that succeeds
 * may have wrong data, and after some time the calls of all ranks must fail. Other communicators
 * continue to work.
 *
 *   ended [LONG_CALLS [SHORT_CALLS]]    makes so many broadcasts of each size before, so that
 *                                       huddle learns how to make them (HUDDLE_WISDOM)
 *
 * Such a program is erroneous; an MPI alone may end the job or wait forever. Therefore this program
 * runs with huddle only, on nodes of two ranks.
 */
#include "check.h"

enum { LONG = 1 << 18, SHORT = 1 << 15 };

#define MAX_NS UINT64_C(20000000000)

static unsigned char data[LONG];
static int lessons[2]; /* numbers of long and of short broadcasts */

static void learn(MPI_Comm comm)
{
    bool good = true;

    for (int i = 0; i < lessons[0] + lessons[1]; i++)
        good = MPI_Bcast(data, i < lessons[0] ? LONG : SHORT, MPI_BYTE, i % world_size, comm) ==
                   MPI_SUCCESS &&
               good;
    MPI_Barrier(MPI_COMM_WORLD); /* the error that follows also ends calls that are under way */
    check(good, "a broadcast fails");
}

/* Broadcasts with a shorter buffer at ranks on other nodes than the root's. */
static int cut_short(MPI_Comm comm)
{
    return MPI_Bcast(data, world_rank < 2 ? LONG : SHORT, MPI_BYTE, 0, comm);
}

/* Gathers with a shorter block of the last rank than it receives of each rank. */
static int unequal(MPI_Comm comm)
{
    int mine[2] = { world_rank, world_rank }, all[2 * 16];

    return MPI_Allgather(mine, world_rank == world_size - 1 ? 1 : 2, MPI_INT, all, 2, MPI_INT,
                         comm);
}

/* Broadcasts until a call fails. A root only sends, so it may notice the error many broadcasts
 * later. */
static void later(MPI_Comm comm, const char *what)
{
    uint64_t until = now_ns() + MAX_NS;
    int code = MPI_SUCCESS;

    for (int i = 1; code == MPI_SUCCESS && now_ns() < until; i++) {
        bool good = true;
        memset(data, world_rank == 0 ? i : 0, SHORT);
        code = MPI_Bcast(data, SHORT, MPI_BYTE, 0, comm);
        for (int k = 0; k < SHORT && code == MPI_SUCCESS; k++)
            good = good && data[k] == (unsigned char)i;
        check(good, "%s: later broadcast %d has other data", what, i);
        pause_us(1000);
    }
    check(code != MPI_SUCCESS, "%s: no later broadcast fails", what);
}

static void fails(int (*call)(MPI_Comm comm), bool on_all, const char *what)
{
    MPI_Comm comm;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    check(MPI_Barrier(comm) == MPI_SUCCESS, "%s: a barrier fails", what);
    learn(comm);
    int code = call(comm), sum = 0, one = 1;
    check(code != MPI_SUCCESS || (!on_all && world_rank < 2), "%s succeeds", what);
    later(comm, what);
    check(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD) == MPI_SUCCESS &&
              sum == world_size,
          "%s: another communicator does not work", what);
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv, MPI_THREAD_SINGLE);
    for (int i = 1; i < argc && i <= 2; i++)
        lessons[i - 1] = atoi(argv[i]);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN); /* MPICH also reports errors to this
                                                                 * communicator */
    fails(cut_short, false, "a broadcast that is cut short");
    fails(unequal, true, "an allgather of unequal blocks");
    return finish("ended");
}
