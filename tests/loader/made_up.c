/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * made_up.c - an unknown MPI, which prints its name (NAME) and each function that is called. LOWER
 * is the path of another MPI to which it passes calls, like a translation library. It finds the
 * other's functions by dlsym, in a constructor or, with LAZY, in MPI_Init.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int PMPI_Init(int *count, char ***words);
int PMPI_Barrier(void *comm);
int PMPI_Allreduce(const void *in, void *out, int count, void *type, void *op, void *comm);
int PMPI_Get_library_version(char *text, int *bytes);
int PMPI_Finalize(void);
#pragma weak MPI_Init = PMPI_Init
#pragma weak MPI_Barrier = PMPI_Barrier
#pragma weak MPI_Allreduce = PMPI_Allreduce
#pragma weak MPI_Get_library_version = PMPI_Get_library_version
#pragma weak MPI_Finalize = PMPI_Finalize

#ifdef LOWER
/* The handles of the MPI at LOWER, which are MPICH's. */
#define WORLD ((void *)0x44000000)
#define INT ((void *)0x4c000405)
#define SUM ((void *)0x58000003)

static void *below(const char *name)
{
    static void *library;

    if (!library)
        library = dlopen(LOWER, RTLD_NOW | RTLD_LOCAL);
    return library ? dlsym(library, name) : NULL;
}

/* Looks up the functions of the MPI at LOWER, in a constructor as some translation libraries do. */
static int (*init)(int *, char ***), (*finalize)(void);
static int (*allreduce)(const void *, void *, int, void *, void *, void *);

#ifndef LAZY
__attribute__((constructor))
#endif
static void
look_up(void)
{
    init = (int (*)(int *, char ***))below("MPI_Init");
    finalize = (int (*)(void))below("MPI_Finalize");
    allreduce = (int (*)(const void *, void *, int, void *, void *, void *))below("MPI_Allreduce");
}
#endif

int PMPI_Init(int *count, char ***words)
{
    puts(NAME " MPI_Init");
#ifdef LOWER
    if (!init)
        look_up();
    return init(count, words);
#else
    (void)count, (void)words;
    return 0;
#endif
}

int PMPI_Barrier(void *comm)
{
    (void)comm;
    puts(NAME " MPI_Barrier");
    return 0;
}

int PMPI_Allreduce(const void *in, void *out, int count, void *type, void *op, void *comm)
{
#ifdef LOWER
    (void)type, (void)op, (void)comm;
    return allreduce(in, out, count, INT, SUM, WORLD);
#else
    (void)type, (void)op, (void)comm;
    memcpy(out, in, (size_t)count * sizeof(int));
    puts(NAME " MPI_Allreduce");
    return 0;
#endif
}

int PMPI_Get_library_version(char *text, int *bytes)
{
    memset(text, 'x', 4000); /* longer than the buffers of some callers */
    memcpy(text, NAME " 1.2,", sizeof NAME " 1.2," - 1);
    text[4000] = '\0';
    *bytes = 4000;
    return 0;
}

int PMPI_Finalize(void)
{
#ifdef LOWER
    return finalize();
#else
    return 0;
#endif
}
