/* SPDX-License-Identifier: BSD-3-Clause */
/* tool_next.c - a profiling tool that is not linked to an MPI. It finds the functions to call by
 * RTLD_NEXT, and prints the number of calls of MPI_Allreduce. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>

static int sums;

int MPI_Init(void *count, void *words);
int MPI_Allreduce(uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d, uintptr_t e, uintptr_t f);
int MPI_Finalize(void);

int MPI_Init(void *count, void *words)
{
    return ((int (*)(void *, void *))dlsym(RTLD_NEXT, "MPI_Init"))(count, words);
}

int MPI_Allreduce(uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d, uintptr_t e, uintptr_t f)
{
    int (*next)(uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t) =
        (int (*)(uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t))dlsym(
            RTLD_NEXT, "MPI_Allreduce");

    sums++;
    return next(a, b, c, d, e, f);
}

int MPI_Finalize(void)
{
    printf("tool: %d\n", sums);
    fflush(stdout);
    return ((int (*)(void))dlsym(RTLD_NEXT, "MPI_Finalize"))();
}
