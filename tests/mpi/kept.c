/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * kept.c - rank 1 has no private memory left for huddle, and many communicators are used. Memory
 * reserved by huddle for this case suffices for some of them. Then the job ends with a line,
 * because the rank cannot notify the others, which would wait forever.
 */
#define _GNU_SOURCE
#include "check.h"

#include <dlfcn.h>
#include <errno.h>

enum { COMMS = 24 };

extern void *__libc_malloc(size_t bytes), *__libc_calloc(size_t count, size_t bytes);

static bool exhausted;

/* Reports whether a library belongs to huddle. Only the file's name counts, because the MPI may be
 * in a folder named huddle. */
static bool is_of_huddle(const char *path)
{
    const char *slash = strrchr(path, '/');

    return strstr(slash ? slash : path, "huddle") != NULL;
}

/* Reports whether the code at an address belongs to huddle. */
static bool is_huddle(const void *address)
{
    Dl_info where;

    return dladdr(address, &where) && where.dli_fname && is_of_huddle(where.dli_fname);
}

static bool is_refused(const void *caller)
{
    bool refused = exhausted && is_huddle(caller);

    errno = refused ? ENOMEM : errno;
    return refused;
}

__attribute__((visibility("default"))) void *malloc(size_t bytes)
{
    return is_refused(__builtin_return_address(0)) ? NULL : __libc_malloc(bytes);
}

__attribute__((visibility("default"))) void *calloc(size_t count, size_t bytes)
{
    return is_refused(__builtin_return_address(0)) ? NULL : __libc_calloc(count, bytes);
}

int main(int argc, char **argv)
{
    static MPI_Comm comm[COMMS];

    begin(&argc, &argv, MPI_THREAD_SINGLE);
    if (is_of_huddle("/huddle/libmpi.so") || !is_of_huddle("/usr/lib/libhuddle-mpich.so")) {
        fprintf(stderr, "is_of_huddle() is wrong\n");
        MPI_Finalize();
        return 1;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    exhausted = world_rank == 1;
    for (int i = 0; i < COMMS; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm[i]);
        MPI_Barrier(comm[i]);
    }
    exhausted = false;
    for (int i = 0; i < COMMS; i++)
        MPI_Comm_free(&comm[i]);
    return finish("kept");
}
