/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * kept.c - one rank has no private memory left, as far as huddle asks for it, and many
 * communicators are used.  What huddle keeps for that serves some.  Then the job ends with a line:
 * the rank cannot tell the others, who would wait for it for ever.
 */
#define _GNU_SOURCE
#include "check.h"

#include <dlfcn.h>
#include <errno.h>

enum { COMMS = 24 };

extern void *__libc_malloc(size_t bytes), *__libc_calloc(size_t count, size_t bytes);

static bool exhausted;

/* By the file's own name: the MPI may lie in a folder named huddle. */
static bool is_of_huddle(const char *path)
{
    const char *slash = strrchr(path, '/');

    return strstr(slash ? slash : path, "huddle") != NULL;
}

/* Whether the code at an address is huddle's. */
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
        fprintf(stderr, "files are not told apart\n");
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
