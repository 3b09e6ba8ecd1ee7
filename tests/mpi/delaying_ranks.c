/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * delaying_ranks.c - ranks that make the others wait until the test has examined the job.
 *
 *     delaying_ranks
 *
 * Each rank prints its process id. Before an allreduce of 1 MB rank 1 sleeps until it gets SIGUSR1.
 * Before a broadcast rank 2 stops itself until it gets SIGCONT. Every result is verified.
 */
#include "check.h"

#include <signal.h>
#include <unistd.h>

enum { NUMBERS = 1 << 18, ROUNDS = 20, SLEEPER = 1, STOPPED = 2 };

static int in[NUMBERS], out[NUMBERS];

static void add(int round)
{
    int wrong = 0;

    for (int i = 0; i < NUMBERS; i++)
        in[i] = i % 1000 + round + world_rank;
    MPI_Allreduce(in, out, NUMBERS, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < NUMBERS; i++)
        wrong += out[i] != world_size * (i % 1000 + round) + world_size * (world_size - 1) / 2;
    check(wrong == 0, "%d sums of round %d are wrong", wrong, round);
}

static void tell(int round)
{
    int value = world_rank == 0 ? 1000 + round : 0;

    MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
    check(value == 1000 + round, "the broadcast of round %d brought %d", round, value);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void rounds(void)
{
    for (int round = 0; round < ROUNDS; round++) {
        add(round);
        tell(round);
    }
}

int main(int argc, char **argv)
{
    sigset_t wake;
    int got;

    sigemptyset(&wake);
    sigaddset(&wake, SIGUSR1);
    sigprocmask(SIG_BLOCK, &wake, NULL); /* threads that the MPI starts inherit the mask */
    begin(&argc, &argv, MPI_THREAD_SINGLE);
    rounds();
    printf("rank %d is process %d.\n", world_rank, (int)getpid());
    fflush(stdout);
    if (world_rank == SLEEPER)
        sigwait(&wake, &got);
    add(ROUNDS);
    section("slept");
    if (world_rank == STOPPED)
        kill(getpid(), SIGSTOP);
    tell(ROUNDS);
    rounds();
    return finish("delaying_ranks");
}
