/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * imports.c - whether the program may call functions in whose waits MPICH calls none of huddle's.
 *
 * MPICH 5 calls huddle in the waits of its messages, but not in these of one-sided and partitioned
 * communication: a rank there would not advance its nonblocking collectives, which other ranks may
 * wait for.  What a program and its libraries import is the same on all ranks that run it.
 */
#define _GNU_SOURCE
#include "host/pmpi/nonblocking.h"

#include <elf.h>
#include <link.h>
#include <string.h>
#include <strings.h>

/* Beginnings of their names in C, and but for the case in Fortran.  A wait for a window's data
 * comes after one of these. */
static const char *const waits[] = { "MPI_Win_start", "MPI_Win_lock", "MPI_Parrived" };

struct object {
    const ElfW(Sym) * symbols;
    const char *names;
    const ElfW(Rela) * data, *calls; /* relocations */
    size_t data_bytes, calls_bytes;
};

static bool is_wait(const char *name)
{
    bool is = false;

    for (size_t i = 0; i < sizeof waits / sizeof *waits; i++)
        is = is || strncasecmp(name, waits[i], strlen(waits[i])) == 0;
    return is;
}

static bool imports(const struct object *o, const ElfW(Rela) * first, size_t bytes)
{
    bool found = false;

    for (size_t i = 0; first && i < bytes / sizeof *first && !found; i++) {
        const ElfW(Sym) *symbol = &o->symbols[ELF64_R_SYM(first[i].r_info)];
        found = symbol->st_shndx == SHN_UNDEF && is_wait(o->names + symbol->st_name);
    }
    return found;
}

/* The C library makes addresses of a section absolute, the kernel those of its object not. */
static const void *address_of(const struct dl_phdr_info *info, const ElfW(Dyn) * d)
{
    ElfW(Addr) at = d->d_un.d_ptr;

    return (const void *)(at >= info->dlpi_addr ? at : info->dlpi_addr + at);
}

static struct object read_dynamic(const struct dl_phdr_info *info, const ElfW(Dyn) * d)
{
    struct object o = { .symbols = NULL };

    for (; d->d_tag != DT_NULL; d++) {
        if (d->d_tag == DT_SYMTAB)
            o.symbols = address_of(info, d);
        else if (d->d_tag == DT_STRTAB)
            o.names = address_of(info, d);
        else if (d->d_tag == DT_RELA)
            o.data = address_of(info, d);
        else if (d->d_tag == DT_RELASZ)
            o.data_bytes = d->d_un.d_val;
        else if (d->d_tag == DT_JMPREL)
            o.calls = address_of(info, d);
        else if (d->d_tag == DT_PLTRELSZ)
            o.calls_bytes = d->d_un.d_val;
    }
    return o;
}

/* The MPI's own libraries for C++ and Fortran import all of it. */
static bool is_mpis(const char *path)
{
    const char *slash = strrchr(path, '/');

    return strncmp(slash ? slash + 1 : path, "libmpi", 6) == 0;
}

static int look(struct dl_phdr_info *info, size_t size, void *found)
{
    (void)size;
    if (is_mpis(info->dlpi_name))
        return 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type != PT_DYNAMIC)
            continue;
        struct object o = read_dynamic(info, (const void *)(info->dlpi_addr + part->p_vaddr));
        *(bool *)found = o.symbols && o.names &&
                         (imports(&o, o.data, o.data_bytes) || imports(&o, o.calls, o.calls_bytes));
    }
    return *(bool *)found;
}

bool hud_imports_waits(void)
{
    static bool known, found;

    if (!known)
        dl_iterate_phdr(look, &found);
    known = true;
    return found;
}
