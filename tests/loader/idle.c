/* SPDX-License-Identifier: BSD-3-Clause */
/* idle.c - a program that is linked to an MPI and does not use it; stays as many seconds as its
 * argument says. */
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

int main(int count, char **words)
{
    if (count > 2)
        MPI_Init(&count, &words);
    sleep(count > 1 ? (unsigned)atoi(words[1]) : 0);
    return 0;
}
