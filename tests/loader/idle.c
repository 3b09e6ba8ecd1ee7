/* SPDX-License-Identifier: BSD-3-Clause */
/* idle.c - a program that is linked to an MPI and does not initialise it; stays as many seconds as
 * its argument says.  With a second argument it calls MPI's interface for tools. */
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

int main(int count, char **words)
{
    int provided;

    if (count > 2) /* as a tool that reads variables of the MPI */
        MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    sleep(count > 1 ? (unsigned)atoi(words[1]) : 0);
    return 0;
}
