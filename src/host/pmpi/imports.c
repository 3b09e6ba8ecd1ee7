/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * imports.c - whether the program may call functions in whose waits MPICH calls none of huddle's.
 *
 * MPICH 5 calls huddle in the waits of its messages, but not in these of one-sided and partitioned
 * communication: a rank there would not advance its nonblocking collectives, which other ranks may
 * wait for.  What a program and its libraries import is the same on all ranks that run it.
 */
#define _GNU_SOURCE
#include "host/object.h"
#include "host/pmpi/nonblocking.h"

#include <elf.h>
#include <string.h>
#include <strings.h>

/* Beginnings of their names in C, and but for the case in Fortran.  A wait for a window's data
 * comes after one of these. */
static const char *const waits[] = { "MPI_Win_start", "MPI_Win_lock", "MPI_Parrived" };

static bool is_wait(const char *name)
{
    bool is = false;

    for (size_t i = 0; i < sizeof waits / sizeof *waits; i++)
        is = is || strncasecmp(name, waits[i], strlen(waits[i])) == 0;
    return is;
}

/* The MPI's own libraries for C++ and Fortran import all of it. */
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

static int look(struct dl_phdr_info *info, size_t size, void *found)
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
        hud_object_each(look, &found);
    known = true;
    return found;
}
