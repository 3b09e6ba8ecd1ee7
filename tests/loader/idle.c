/* SPDX-License-Identifier: BSD-3-Clause */
/* idle.c - a program that is linked to an MPI but does not initialize it. Sleeps for the number of
 * seconds in its first argument. With a second argument it first calls the MPI tool interface. */
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

int main(int count, char **words)
{
    int provided;

    if (count > 2) /* acts as a tool that reads variables of the MPI */
        MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    sleep(count > 1 ? (unsigned)atoi(words[1]) : 0);
    return 0;
}
