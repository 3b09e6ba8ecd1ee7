/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * scope.c - hides the loader's names if no MPI defines them.
 *
 * A library that is built for serial and parallel programs tests by a weak symbol, or by dlsym,
 * whether an MPI is present.  It must not find the loader's name.  So once the program is loaded:
 *
 * 1. References that were bound to a name that no other object defines are unbound again if they
 *    are weak, as the dynamic linker would have left them.
 * 2. The names become symbols of type IFUNC in the loader's own table.  From then on the dynamic
 *    linker calls hud_loader_resolve for each reference of an object that is opened later, and for
 *    each dlsym.  It returns NULL, or the name's entry if another object defines the name.
 *
 * The symbols cannot have this type in the file.  Objects that are relocated before the loader
 * would call code that is not relocated, and glibc warns about this.  musl does not support IFUNC:
 * it finds none of these names after step 2, and huddle does nothing there.
 */
#define _GNU_SOURCE
#include "host/loader/loader.h"
#include "host/object.h"

#include <elf.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

extern const char hud_names[] __attribute__((visibility("hidden")));
extern const char hud_handed[] __attribute__((visibility("hidden")));
extern const char hud_handed_end[] __attribute__((visibility("hidden")));

enum { ENTRY_BYTES = 16 }; /* see entries.S and look_up.S */

/* ---- the loader's own names ---- */

/* Set before the process has threads. */
static struct object self;
static const char *resolvers; /* hud_resolvers of look_up.S */

int hud_scope_index(const void *address)
{
    uintptr_t at = (uintptr_t)address - (uintptr_t)hud_names;

    return at < (uintptr_t)(hud_handed_end - hud_names) ? (int)(at / ENTRY_BYTES) : -1;
}

void *hud_scope_entry(int index)
{
    return (void *)(uintptr_t)(hud_names + index * ENTRY_BYTES);
}

/* Returns whether a name begins with a prefix. strncmp may be a sanitizer's, which is not ready yet
 * (hooks.c). */
static bool begins_with(const char *name, const char *beginning)
{
    while (*beginning && *name == *beginning)
        name++, beginning++;
    return !*beginning;
}

int hud_scope_named(const char *name)
{
    struct object early;
    const struct object *own = &self;

    if (!begins_with(name, "MPI") && !begins_with(name, "PMPI") && !begins_with(name, "mpi_"))
        return -1;
    if (!self.symbols) {
        if (!hud_object_at(hud_names, &early))
            return -1;
        own = &early;
    }
    const ElfW(Sym) *symbol = hud_object_defines(own, name);
    if (!symbol)
        return -1;
    /* the entry before the symbol became an IFUNC, the resolver afterwards */
    const char *at = (const char *)own->base + symbol->st_value;
    return ELF64_ST_TYPE(symbol->st_info) == STT_GNU_IFUNC ? (int)((at - resolvers) / ENTRY_BYTES)
                                                           : hud_scope_index(at);
}

/* ---- other objects ---- */

struct search {
    const char *name;
    const ElfW(Dyn) * after; /* count only objects behind this object, which is behind the loader;
                                or NULL */
    bool before;             /* count only objects in front of the loader */
    bool passed_own, passed;
    void *found;
    int count;
};

static int look_for(struct dl_phdr_info *info, size_t bytes, void *arg)
{
    struct search *s = arg;
    struct object o;

    (void)bytes;
    if (!hud_object_read(info, &o))
        return 0;
    bool own = hud_object_is_own(&o), counts = !s->after || s->passed;
    s->passed_own = s->passed_own || own;
    s->passed = s->passed || (s->passed_own && o.dynamic == s->after);
    if (own || !counts || (s->before && s->passed_own) || !hud_object_defines(&o, s->name))
        return 0;
    s->count++;
    if (!s->found)
        s->found = hud_object_address(&o, s->name);
    return 0;
}

void *hud_scope_next(const char *name)
{
    struct search search = { .name = name, .after = _DYNAMIC };

    hud_object_each(look_for, &search);
    return search.found;
}

void *hud_scope_after(const char *name, const void *caller)
{
    struct object from;
    struct search search = { .name = name };

    if (!hud_object_at(caller, &from))
        return NULL;
    search.after = from.dynamic;
    hud_object_each(look_for, &search);
    return search.found;
}

bool hud_scope_has_before(const char *name)
{
    struct search search = { .name = name, .before = true };

    hud_object_each(look_for, &search);
    return search.count > 0;
}

void *hud_scope_any(const char *name)
{
    struct search search = { .name = name };

    hud_object_each(look_for, &search);
    return search.found;
}

int hud_scope_count(const char *name)
{
    struct search search = { .name = name };

    hud_object_each(look_for, &search);
    return search.count;
}

/* ---- settling ---- */

/* Changes the protection of pages.  mprotect may be a sanitizer's, which is not ready yet. */
static bool protect(uintptr_t from, uintptr_t end, int how)
{
    uintptr_t page = (uintptr_t)getauxval(AT_PAGESZ), first = from / page * page;

    return syscall(SYS_mprotect, first, end - first, how) == 0;
}

/* Writes a word, which may be in a part that was made read-only after relocation. */
static void write_word(const struct object *o, uintptr_t *at, uintptr_t value)
{
    uintptr_t here = (uintptr_t)at;
    bool locked = here >= o->read_only && here < o->read_only_end;

    if (locked && !protect(here, here + sizeof *at, PROT_READ | PROT_WRITE))
        return;
    *at = value;
    if (locked)
        protect(here, here + sizeof *at, PROT_READ);
}

static bool is_address(uint64_t type)
{
#if defined(__x86_64__)
    return type == R_X86_64_GLOB_DAT || type == R_X86_64_JUMP_SLOT || type == R_X86_64_64;
#else
    return type == R_AARCH64_GLOB_DAT || type == R_AARCH64_JUMP_SLOT || type == R_AARCH64_ABS64;
#endif
}

static bool unbind(const struct object *o, const ElfW(Rela) * relocation, const ElfW(Sym) * symbol,
                   void *arg)
{
    uintptr_t *at = (uintptr_t *)(o->base + relocation->r_offset);

    (void)arg;
    /* The symbol is tested last, because its table is not in memory yet in most objects. */
    if (is_address(ELF64_R_TYPE(relocation->r_info)) && hud_scope_index((void *)*at) >= 0 &&
        ELF64_ST_BIND(symbol->st_info) == STB_WEAK && !hud_scope_any(o->names + symbol->st_name))
        write_word(o, at, 0);
    return false;
}

static int unbind_object(struct dl_phdr_info *info, size_t bytes, void *arg)
{
    struct object o;

    (void)bytes;
    if (hud_object_read(info, &o) && !hud_object_is_own(&o))
        hud_object_references(&o, unbind, arg);
    return 0;
}

/* Changes symbols of the loader's own table to IFUNCs.  The table is in a segment without code
 * (CMakeLists.txt sets the linker's options accordingly). */
static void resolve_later(void)
{
    size_t count = hud_object_symbols(&self);
    uintptr_t first = (uintptr_t)self.symbols, end = (uintptr_t)(self.symbols + count);
    if (!protect(first, end, PROT_READ | PROT_WRITE))
        return;
    for (size_t i = 0; i < count; i++) {
        ElfW(Sym) *symbol = (ElfW(Sym) *)first + i;
        int name = symbol->st_shndx == SHN_UNDEF
                       ? -1
                       : hud_scope_index((const void *)(self.base + symbol->st_value));
        if (name < 0)
            continue;
        symbol->st_value = (ElfW(Addr))(resolvers + name * ENTRY_BYTES) - self.base;
        symbol->st_info =
            (unsigned char)ELF64_ST_INFO(ELF64_ST_BIND(symbol->st_info), STT_GNU_IFUNC);
    }
    protect(first, end, PROT_READ);
}

void hud_scope_settle(const char *first_resolver)
{
    resolvers = first_resolver;
    if (!hud_object_at(hud_names, &self))
        return;
    hud_object_each(unbind_object, NULL);
    resolve_later();
}
