/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * asks.c - a program, or with -DLIBRARY a library, that works with or without an MPI. It uses weak
 * symbols and dlsym to find out whether an MPI is loaded. Without arguments it prints the result.
 * With the path of such a library it opens the library, which prints its own result.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

extern int MPI_Init(int *, char ***) __attribute__((weak));
extern int MPI_Barrier(void *) __attribute__((weak));
extern int PMPI_Allreduce(void) __attribute__((weak));
extern int MPI_Bcast_c(void) __attribute__((weak));
extern void mpi_init_(int *) __attribute__((weak));

void ask(const char *who);

void ask(const char *who)
{
    printf("%s: %d%d%d%d%d %d%d\n", who, MPI_Init != NULL, MPI_Barrier != NULL,
           PMPI_Allreduce != NULL, MPI_Bcast_c != NULL, mpi_init_ != NULL,
           dlsym(RTLD_DEFAULT, "MPI_Init") != NULL, dlsym(RTLD_DEFAULT, "MPI_Scan_c") != NULL);
}

#ifdef CONSTRUCTOR
__attribute__((constructor)) static void ask_early(void)
{
    ask("constructor");
    if (MPI_Barrier)
        MPI_Barrier(NULL);
}
#endif

#ifndef LIBRARY
int main(int count, char **words)
{
    ask("program");
    if (count > 1) {
        void *library = dlopen(words[1], RTLD_NOW | RTLD_LOCAL);
        void (*its)(const char *) = library ? (void (*)(const char *))dlsym(library, "ask") : NULL;
        if (!its) {
            puts(dlerror());
            return 1;
        }
        its("library");
    }
    if (MPI_Init)
        MPI_Init(NULL, NULL);
    return 0;
}
#endif
