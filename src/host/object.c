/* SPDX-License-Identifier: BSD-3-Clause */
/* object.c - reads ELF objects from their mapped memory. */
#ifndef _GNU_SOURCE /* some components that include this file define _GNU_SOURCE */
#define _GNU_SOURCE
#endif
#include "host/object.h"

#include "base/process_atomics.h"

#include <elf.h>
#include <sys/auxv.h>

/* ---- tables ---- */

/* Returns the address in an entry.  glibc has made the entry absolute; musl does not, nor does the
 * kernel in its own object. */
static const void *address_of(ElfW(Addr) base, const ElfW(Dyn) * entry)
{
    ElfW(Addr) at = entry->d_un.d_ptr;

    return (const void *)(at >= base ? at : base + at);
}

static void read_entry(struct object *o, const ElfW(Dyn) * entry, size_t *soname)
{
    switch (entry->d_tag) {
    case DT_SYMTAB:
        o->symbols = address_of(o->base, entry);
        break;
    case DT_STRTAB:
        o->names = address_of(o->base, entry);
        break;
    case DT_GNU_HASH:
        o->gnu_hash = address_of(o->base, entry);
        break;
    case DT_HASH:
        o->sysv_hash = address_of(o->base, entry);
        break;
    case DT_RELA:
        o->data.first = address_of(o->base, entry);
        break;
    case DT_RELASZ:
        o->data.count = entry->d_un.d_val / sizeof *o->data.first;
        break;
    case DT_RELACOUNT:
        o->relative = entry->d_un.d_val;
        break;
    case DT_JMPREL:
        o->calls.first = address_of(o->base, entry);
        break;
    case DT_PLTRELSZ:
        o->calls.count = entry->d_un.d_val / sizeof *o->calls.first;
        break;
    case DT_SONAME:
        *soname = entry->d_un.d_val;
        break;
    default:
        break;
    }
}

static bool read_entries(struct object *o, const ElfW(Dyn) * entry)
{
    size_t soname = 0;

    o->dynamic = entry;
    for (; entry && entry->d_tag != DT_NULL; entry++)
        read_entry(o, entry, &soname);
    if (o->names && soname)
        o->soname = o->names + soname;
    return o->symbols && o->names;
}

bool hud_object_read(const struct dl_phdr_info *info, struct object *o)
{
    const ElfW(Dyn) *entry = NULL;

    *o = (struct object){ .base = info->dlpi_addr, .path = info->dlpi_name };
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type == PT_DYNAMIC)
            entry = (const void *)(info->dlpi_addr + part->p_vaddr);
        if (part->p_type == PT_GNU_RELRO) { /* whole pages only, as in the C library */
            uintptr_t page = (uintptr_t)getauxval(AT_PAGESZ), at = info->dlpi_addr + part->p_vaddr;
            o->read_only = at / page * page;
            o->read_only_end = (at + part->p_memsz) / page * page;
        }
    }
    return read_entries(o, entry);
}

bool hud_object_is_own(const struct object *o)
{
    return o->dynamic == _DYNAMIC;
}

struct place {
    uintptr_t address;
    struct object *object;
};

static int read_object_with(struct dl_phdr_info *info, size_t bytes, void *arg)
{
    const struct place *wanted = arg;

    (void)bytes;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type == PT_LOAD &&
            wanted->address - (info->dlpi_addr + part->p_vaddr) < part->p_memsz)
            return hud_object_read(info, wanted->object) ? 1 : -1;
    }
    return 0;
}

bool hud_object_at(const void *address, struct object *object)
{
    struct place wanted = { (uintptr_t)address, object };

    return address && hud_object_each(read_object_with, &wanted) == 1;
}

/* ---- definitions ---- */

/* Compares two names.  strcmp may be a sanitizer's, which is not ready yet (hud_object_early). */
static bool is_same(const char *a, const char *b)
{
    while (*a && *a == *b)
        a++, b++;
    return *a == *b;
}

/* The header of a GNU hash table. */
struct table {
    uint32_t buckets_count, first, filter_count, shift;
    const ElfW(Addr) * filter;
    const uint32_t *buckets, *chain; /* chain[i] is of symbol first + i */
};

static struct table read_table(const uint32_t *words)
{
    struct table t = {
        words[0], words[1], words[2], words[3], (const void *)(words + 4), NULL, NULL
    };

    t.buckets = (const void *)(t.filter + t.filter_count);
    t.chain = t.buckets + t.buckets_count;
    return t;
}

static bool is_it(const struct object *o, const ElfW(Sym) * symbol, const char *name)
{
    unsigned bind = ELF64_ST_BIND(symbol->st_info);

    return symbol->st_shndx != SHN_UNDEF && (bind == STB_GLOBAL || bind == STB_WEAK) &&
           is_same(o->names + symbol->st_name, name);
}

static uint32_t gnu_hash_of(const char *name)
{
    uint32_t hash = 5381;

    for (; *name; name++)
        hash = hash * 33 + (unsigned char)*name;
    return hash;
}

static const ElfW(Sym) * find_by_gnu_hash(const struct object *o, const char *name)
{
    enum { BITS = 8 * sizeof(ElfW(Addr)) };
    const struct table t = read_table(o->gnu_hash);
    uint32_t hash = gnu_hash_of(name);

    if (t.buckets_count == 0 || t.filter_count == 0)
        return NULL;
    ElfW(Addr) word = t.filter[hash / BITS % t.filter_count];
    if (!(word >> hash % BITS & word >> (hash >> t.shift) % BITS & 1))
        return NULL;
    uint32_t i = t.buckets[hash % t.buckets_count];
    if (i < t.first)
        return NULL;
    for (;; i++) {
        uint32_t here = t.chain[i - t.first];
        if ((here | 1) == (hash | 1) && is_it(o, &o->symbols[i], name))
            return &o->symbols[i];
        if (here & 1)
            return NULL;
    }
}

static const ElfW(Sym) * find_by_sysv_hash(const struct object *o, const char *name)
{
    uint32_t buckets = o->sysv_hash[0], hash = 0;
    const uint32_t *bucket = o->sysv_hash + 2, *chain = bucket + buckets;

    for (const char *c = name; *c; c++) {
        hash = (hash << 4) + (unsigned char)*c;
        uint32_t high = hash & 0xf0000000;
        hash = (hash ^ high >> 24) & ~high;
    }
    for (uint32_t i = buckets ? bucket[hash % buckets] : 0; i != STN_UNDEF; i = chain[i])
        if (is_it(o, &o->symbols[i], name))
            return &o->symbols[i];
    return NULL;
}

const ElfW(Sym) * hud_object_defines(const struct object *o, const char *name)
{
    if (o->gnu_hash)
        return find_by_gnu_hash(o, name);
    return o->sysv_hash ? find_by_sysv_hash(o, name) : NULL;
}

struct search {
    const char *name;
    void *found;
    struct object *object;
};

static int look_for_definition(struct dl_phdr_info *info, size_t bytes, void *arg)
{
    struct search *search = arg;
    struct object o;

    (void)bytes;
    if (hud_object_read(info, &o))
        search->found = hud_object_address(&o, search->name);
    return search->found != NULL;
}

void *hud_object_find(const char *name)
{
    struct search search = { .name = name };

    hud_object_each(look_for_definition, &search);
    return search.found;
}

extern struct r_debug _r_debug __attribute__((weak)); /* defined by glibc, but not by musl */

void *hud_object_early(const char *name)
{
    const struct link_map *map = &_r_debug ? _r_debug.r_map : NULL;
    void *found = NULL;

    while (map && map->l_ld != _DYNAMIC)
        map = map->l_next;
    for (map = map ? map->l_next : NULL; map && !found; map = map->l_next) {
        struct object o = { .base = map->l_addr, .path = map->l_name };
        if (read_entries(&o, map->l_ld))
            found = hud_object_address(&o, name);
    }
    return found;
}

int hud_object_each(hud_object_visitor *visit, void *arg)
{
    static _Atomic(void *) kept;
    typedef int each(hud_object_visitor * visit, void *arg);

    if (!local_get(&kept)) {
        void *found = hud_object_early("dl_iterate_phdr");
        local_set(&kept, found ? found : (void *)dl_iterate_phdr);
    }
    return ((each *)local_get(&kept))(visit, arg);
}

static int look_for_soname(struct dl_phdr_info *info, size_t bytes, void *arg)
{
    const struct search *search = arg;

    (void)bytes;
    return hud_object_read(info, search->object) && search->object->soname &&
           is_same(search->object->soname, search->name);
}

bool hud_object_named(const char *soname, struct object *object)
{
    struct search search = { .name = soname, .object = object };

    return hud_object_each(look_for_soname, &search) == 1;
}

size_t hud_object_symbols(const struct object *o)
{
    uint32_t last = 0;

    if (o->sysv_hash)
        return o->sysv_hash[1];
    if (!o->gnu_hash)
        return 0;
    const struct table t = read_table(o->gnu_hash);
    for (uint32_t i = 0; i < t.buckets_count; i++)
        last = t.buckets[i] > last ? t.buckets[i] : last;
    if (last < t.first)
        return 0;
    while (!(t.chain[last - t.first] & 1))
        last++;
    return last + 1;
}

/* ---- references ---- */

static bool visit_all(const struct object *o, const struct object_relocations *all, size_t from,
                      hud_object_visit *visit, void *arg)
{
    bool stopped = false;

    for (size_t i = from; all->first && i < all->count && !stopped; i++) {
        size_t symbol = ELF64_R_SYM(all->first[i].r_info);
        stopped = symbol != STN_UNDEF && visit(o, &all->first[i], &o->symbols[symbol], arg);
    }
    return stopped;
}

bool hud_object_references(const struct object *o, hud_object_visit *visit, void *arg)
{
    return visit_all(o, &o->data, o->relative, visit, arg) ||
           visit_all(o, &o->calls, 0, visit, arg);
}
