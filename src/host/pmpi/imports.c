/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * imports.c - whether the program may call functions in whose waits MPICH does not call huddle.
 *
 * MPICH 5 calls huddle in the waits of its messages, but not in the waits of one-sided and
 * partitioned communication: a rank there would not advance its nonblocking collectives, which
 * other ranks may wait for.  The imports of a program and its libraries are the same on all ranks
 * that run it.
 */
#define _GNU_SOURCE
#include "host/object.h"
#include "host/pmpi/nonblocking.h"

#include <elf.h>
#include <string.h>
#include <strings.h>

/* Prefixes of the functions' names in C, and, with any case, in Fortran.  A wait for a window's
 * data follows a call of such a function. */
static const char *const waits[] = { "MPI_Win_start", "MPI_Win_lock", "MPI_Parrived" };

static bool is_wait(const char *name)
{
    bool is = false;

    for (size_t i = 0; i < sizeof waits / sizeof *waits; i++)
        is = is || strncasecmp(name, waits[i], strlen(waits[i])) == 0;
    return is;
}

/* Returns whether an object is a library of the MPI itself.  The libraries for C++ and Fortran
 * import all of MPI. */
static bool is_mpis(const char *path)
{
    const char *slash = strrchr(path, '/');

    return strncmp(slash ? slash + 1 : path, "libmpi", 6) == 0;
}

static bool imports(const struct object *o, const ElfW(Rela) * relocation, const ElfW(Sym) * symbol,
                    void *arg)
{
    (void)relocation, (void)arg;
    return symbol->st_shndx == SHN_UNDEF && is_wait(o->names + symbol->st_name);
}

static int find_wait_import(struct dl_phdr_info *info, size_t size, void *found)
{
    struct object o;

    (void)size;
    *(bool *)found = !is_mpis(info->dlpi_name) && hud_object_read(info, &o) &&
                     hud_object_references(&o, imports, NULL);
    return *(bool *)found;
}

bool hud_imports_waits(void)
{
    static bool known, found;

    if (!known)
        hud_object_each(find_wait_import, &found);
    known = true;
    return found;
}
