/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sums.c - an MPI program of two ranks that computes 100 sums. By default it is linked to its MPI.
 * With -DOPENS it opens the library in its first argument with the flags in its second one (1:
 * RTLD_GLOBAL, 2: RTLD_DEEPBIND) and finds the functions by dlsym, in the library or, with flag 4,
 * in the process. With -DASKS it also prints which library contains MPI_Init. With -DLOOKS it first
 * looks up MPI_Init in another MPI, and does not call it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CALLS = 100 };

#ifdef OPENS
typedef void *handle;

static void *named(void *library, const char *name, uintptr_t mpichs)
{
    void *found = dlsym(library, name);

    return found ? found : (void *)mpichs;
}

int main(int count, char **words)
{
    int flags = count > 2 ? atoi(words[2]) : 0, rank, mine, sum = 0;
    void *library = dlopen(words[1], RTLD_NOW | (flags & 1 ? RTLD_GLOBAL : RTLD_LOCAL) |
                                         (flags & 2 ? RTLD_DEEPBIND : 0));
    void *from = flags & 4 ? RTLD_DEFAULT : library;
    if (!library) {
        puts(dlerror());
        return 1;
    }
    handle world = named(library, "ompi_mpi_comm_world", 0x44000000),
           type = named(library, "ompi_mpi_int", 0x4c000405),
           op = named(library, "ompi_mpi_op_sum", 0x58000003);
    int (*init)(int *, char ***) = (int (*)(int *, char ***))dlsym(from, "MPI_Init");
    int (*end)(void) = (int (*)(void))dlsym(from, "MPI_Finalize");
    int (*rank_of)(handle, int *) = (int (*)(handle, int *))dlsym(from, "MPI_Comm_rank");
    int (*add)(const void *, void *, int, handle, handle, handle) =
        (int (*)(const void *, void *, int, handle, handle, handle))dlsym(from, "MPI_Allreduce");
    init(NULL, NULL);
    rank_of(world, &rank);
    mine = rank + 1;
    for (int i = 0; i < CALLS; i++)
        add(&mine, &sum, 1, type, op, world);
    if (rank == 0)
        printf("sum %d\n", sum);
    end();
    return 0;
}
#else
#include <mpi.h>

int main(int count, char **words)
{
    int rank, mine, sum = 0;

#ifdef LOOKS
    printf("%d\n", dlsym(dlopen(words[1], RTLD_NOW | RTLD_LOCAL), "MPI_Init") != NULL);
#endif
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    mine = rank + 1;
    for (int i = 0; i < CALLS; i++)
        MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("sum %d\n", sum);
#ifdef ASKS
    Dl_info info;
    if (rank == 0 && dladdr(dlsym(RTLD_DEFAULT, "MPI_Init"), &info))
        printf("in %s, %s\n", strrchr(info.dli_fname, '/') + 1, info.dli_sname);
#endif
    MPI_Finalize();
    return 0;
}
#endif
