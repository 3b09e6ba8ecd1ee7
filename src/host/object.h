/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * object.h - the dynamic tables of the ELF objects in this process: their definitions and
 * references.
 *
 * dlsym is not usable here: it finds names of this library itself, needs a path for each object,
 * and must not be called while the dynamic linker binds names.  These functions only read the
 * process's own memory.
 */
#ifndef HUD_HOST_OBJECT_H
#define HUD_HOST_OBJECT_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct object {
    ElfW(Addr) base;
    const ElfW(Dyn) * dynamic;
    const char *path, *soname; /* soname: NULL if there is none */
    const ElfW(Sym) * symbols;
    const char *names;
    const uint32_t *gnu_hash, *sysv_hash; /* either may be NULL */
    struct object_relocations {
        const ElfW(Rela) * first;
        size_t count;
    } data, calls;
    size_t relative;                    /* number of entries at the beginning of `data` that have no
                                           symbol */
    uintptr_t read_only, read_only_end; /* pages that are made read-only after relocation */
};

/* Calls visit for each object of the process, as dl_iterate_phdr does.  Uses the definition of
 * dl_iterate_phdr behind this object, because the first may be a sanitizer's, which is not ready
 * while libraries are initialised. */
typedef int hud_object_visitor(struct dl_phdr_info *info, size_t bytes, void *arg);
int hud_object_each(hud_object_visitor *visit, void *arg);

/* Reads an object's tables.  Returns false if it has none. */
bool hud_object_read(const struct dl_phdr_info *info, struct object *object);

/* Finds the object that contains an address.  Returns false if there is none. */
bool hud_object_at(const void *address, struct object *object);

/* Returns true for the object that contains this file. */
bool hud_object_is_own(const struct object *object);

/* Returns the object's own global definition of a function or datum, or NULL. */
const ElfW(Sym) * hud_object_defines(const struct object *object, const char *name);

/* Returns the address of a definition, or NULL; also NULL for an indirect function (IFUNC). */
static inline void *hud_object_address(const struct object *object, const char *name)
{
    const ElfW(Sym) *symbol = hud_object_defines(object, name);

    return symbol && ELF64_ST_TYPE(symbol->st_info) != STT_GNU_IFUNC
               ? (void *)(object->base + symbol->st_value)
               : NULL;
}

/* Returns the first definition of a name in the process, in the order of its objects, or NULL. */
void *hud_object_find(const char *name);
/* Returns the first definition of a name in an object behind this object, or NULL.  Calls no other
 * function and takes no lock, so it works before the process's libraries are initialised. */
void *hud_object_early(const char *name);
/* Finds the object with a given DT_SONAME.  Returns false if there is none. */
bool hud_object_named(const char *soname, struct object *object);

/* Returns the number of the object's dynamic symbols, or 0 if unknown. */
size_t hud_object_symbols(const struct object *object);

/*
 * Calls visit for each relocation of the object that names a symbol, until visit returns true.
 * hud_object_references returns whether visit did.
 */
typedef bool hud_object_visit(const struct object *object, const ElfW(Rela) * relocation,
                              const ElfW(Sym) * symbol, void *arg);
bool hud_object_references(const struct object *object, hud_object_visit *visit, void *arg);

#endif
