/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * topo/topo.c - asks hwloc once, keeps plain tables, answers which unit of a level holds a rank's
 * processors.
 *
 * hwloc is loaded on a separate topology, without I/O, instruction caches and other objects that
 * huddle does not use, but with the processors that this process may not use: otherwise rank 0's
 * cpuset would hide the other ranks' cores.  It changes no thread's binding while it loads, since
 * other threads of the program may be starting threads meanwhile.
 */
#include "topo/topo.h"

#include "topo/machine.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- loading --------------------------------------------------------------------------------- */

/* Besides the processors of others: what leaves the threads alone, and saves time.  An MPI may have
 * brought an hwloc older than our header. */
static unsigned long load_flags(void)
{
    unsigned long flags = HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED;

#if HWLOC_API_VERSION >= 0x00020500
    if (hwloc_get_api_version() >= 0x00020500)
        flags |= HWLOC_TOPOLOGY_FLAG_DONT_CHANGE_BINDING;
#endif
#if HWLOC_API_VERSION >= 0x00020800
    if (hwloc_get_api_version() >= 0x00020800)
        flags |= HWLOC_TOPOLOGY_FLAG_NO_MEMATTRS | HWLOC_TOPOLOGY_FLAG_NO_CPUKINDS;
#endif
    return flags;
}

/*
 * Whether a synthetic description is of more processors or NUMA nodes than are of use: hwloc would
 * spend minutes and the memory on making them.  A number after a space or a colon multiplies; what
 * is in brackets does not, but is memory.
 */
static bool is_too_long_to_make(const char *description)
{
    enum { MAX_NODES = 512 };
    unsigned long units = 1;
    const char *word = description;
    int depth = 0;

    for (const char *c = description; *c; c++) {
        bool begins = c == description || strchr(" \t\n", c[-1]),
             counts = depth == 0 && (begins || c[-1] == ':') && isdigit((unsigned char)*c);
        unsigned long count = counts ? strtoul(c, NULL, 10) : 1;

        word = begins ? c : word;
        units *= count > TOPO_CPUS ? TOPO_CPUS + 1 : count;
        if (units > TOPO_CPUS ||
            (units > MAX_NODES && (*c == '[' || (counts && !strncasecmp(word, "numa", 4)))))
            return true;
        /* Attributes follow a number.  hwloc passes over a parenthesis elsewhere, up to the colon.
         */
        bool opens =
            *c == '[' || (*c == '(' && (depth > 0 || (!begins && isdigit((unsigned char)c[-1]))));
        depth += opens - (depth > 0 && (*c == ')' || *c == ']'));
    }
    return false;
}

static int set_description(hwloc_topology_t machine, const char *description)
{
    size_t length = strlen(description);

    if (length >= 4 && !strcmp(description + length - 4, ".xml"))
        return hwloc_topology_set_xml(machine, description);
    return is_too_long_to_make(description) ? -1
                                            : hwloc_topology_set_synthetic(machine, description);
}

static int discover(hwloc_topology_t machine, const char *description)
{
    int failed = hwloc_topology_set_all_types_filter(machine, HWLOC_TYPE_FILTER_KEEP_NONE);

    for (int kind = 0; kind < TOPO_KINDS && !failed;
         kind++) /* groups that only repeat others are of no use; nor are other things' */
        failed = hwloc_topology_set_type_filter(
            machine, hud_topo_kinds[kind].type,
            kind == TOPO_GROUP ? HWLOC_TYPE_FILTER_KEEP_STRUCTURE : HWLOC_TYPE_FILTER_KEEP_ALL);
    failed = failed ||
             hwloc_topology_set_type_filter(machine, HWLOC_OBJ_CORE, HWLOC_TYPE_FILTER_KEEP_ALL);
    failed = failed || hwloc_topology_set_flags(machine, load_flags());
    failed = failed || (description && set_description(machine, description));
    return failed || hwloc_topology_load(machine) ? -1 : 0;
}

static void read_cpus(hwloc_const_bitmap_t set, struct topo_cpus *cpus)
{
    for (int c = hwloc_bitmap_first(set); c >= 0 && c < TOPO_CPUS; c = hwloc_bitmap_next(set, c))
        topo_add(cpus, c);
}

static int read_nodes(hwloc_topology_t machine, struct topo *t)
{
    int count = hwloc_get_nbobjs_by_type(machine, HWLOC_OBJ_NUMANODE);

    t->node = calloc(count > 0 ? (size_t)count : 1, sizeof *t->node);
    if (!t->node)
        return -1;
    for (hwloc_obj_t o = NULL;
         (o = hwloc_get_next_obj_by_type(machine, HWLOC_OBJ_NUMANODE, o)) != NULL;) {
        struct topo_node *node = &t->node[t->nodes++];

        node->os = (int)o->os_index;
        node->bytes = o->attr->numanode.local_memory;
        read_cpus(o->cpuset, &node->cpus);
    }
    return 0;
}

static struct topo *keep(hwloc_topology_t machine)
{
    struct topo *t = calloc(1, sizeof *t);

    if (!t)
        return NULL;
    read_cpus(hwloc_topology_get_topology_cpuset(machine), &t->cpus);
    t->sockets = hwloc_get_nbobjs_by_type(machine, HWLOC_OBJ_PACKAGE);
    hud_topo_find_caches(machine, t);
    if (read_nodes(machine, t) || hud_topo_find_levels(machine, t)) {
        hud_topo_free(t);
        return NULL;
    }
    return t;
}

/* Of a machine that is described no processor is left out in silence. */
static bool is_too_large(hwloc_topology_t machine)
{
    return hwloc_bitmap_last(hwloc_topology_get_topology_cpuset(machine)) >= TOPO_CPUS;
}

/* description NULL: this machine. */
static struct topo *load(const char *description)
{
    hwloc_topology_t machine;
    struct topo *t;

    if (hwloc_topology_init(&machine))
        return NULL;
    t = discover(machine, description) || (description && is_too_large(machine)) ? NULL
                                                                                 : keep(machine);
    hwloc_topology_destroy(machine);
    return t;
}

struct topo *hud_topo_load(void)
{
    return load(NULL);
}

struct topo *hud_topo_load_described(const char *description)
{
    return load(description);
}

void hud_topo_free(struct topo *t)
{
    if (t)
        free(t->node);
    free(t);
}

/* ---- levels and units ------------------------------------------------------------------------ */

int hud_topo_levels(const struct topo *t)
{
    return t->levels;
}

const char *hud_topo_level_name(const struct topo *t, int level)
{
    return hud_topo_kinds[t->level[level].kind].name;
}

int hud_topo_level_of(const struct topo *t, const char *name)
{
    for (int l = 0; l < t->levels; l++)
        for (int kind = 0; kind < TOPO_KINDS; kind++)
            if (((int)t->level[l].kind == kind || t->level[l].also >> kind & 1) &&
                strcmp(hud_topo_kinds[kind].name, name) == 0)
                return l;
    return -1;
}

int hud_topo_level_units(const struct topo *t, int level)
{
    return t->level[level].units.count;
}

uint64_t hud_topo_memory(const struct topo *t)
{
    uint64_t bytes = 0;

    for (int n = 0; n < t->nodes; n++)
        bytes += t->node[n].bytes;
    return bytes;
}

int hud_topo_cores(const struct topo *t)
{
    return t->cores;
}

void hud_topo_all(const struct topo *t, struct topo_cpus *cpus)
{
    *cpus = t->cpus;
}

static int unit_of(const struct topo_units *units, const struct topo_cpus *cpus)
{
    int unit = -1;

    for (int word = 0; word < TOPO_CPUS / 64; word++)
        for (uint64_t left = cpus->word[word]; left; left &= left - 1) {
            int of = units->of[64 * word + __builtin_ctzll(left)];

            if (of < 0 || (unit >= 0 && of != unit))
                return -1;
            unit = of;
        }
    return unit;
}

int hud_topo_unit(const struct topo *t, int level, const struct topo_cpus *cpus)
{
    return unit_of(&t->level[level].units, cpus);
}

/* Ranks that are bound within no single cache are taken to spread over all. */
uint64_t hud_topo_cache_share(const struct topo *t, const struct topo_cpus *cpus, int ranks)
{
    int in[TOPO_CPUS] = { 0 }, spread = 0, max = 0;

    if (t->caches.count == 0 || ranks == 0)
        return 0;
    for (int r = 0; r < ranks; r++) {
        int unit = unit_of(&t->caches, &cpus[r]);
        if (unit < 0)
            spread++;
        else if (++in[unit] > max)
            max = in[unit];
    }
    return t->cache_bytes / (uint64_t)(max + (spread + t->caches.count - 1) / t->caches.count);
}

/* ---- levels switched off --------------------------------------------------------------------- */

/* The next name of a comma-separated list; *list moves behind it.  Returns its length, -1: the list
 * has ended. */
static int next_name(const char **list, const char **name)
{
    size_t length;

    if (!*list)
        return -1;
    *name = *list;
    length = strcspn(*list, ",");
    *list = (*list)[length] ? *list + length + 1 : NULL;
    return (int)length;
}

static bool equals(const char *name, int length, const char *other)
{
    return strlen(other) == (size_t)length && !memcmp(name, other, (size_t)length);
}

static bool is_listed(const char *list, const char *wanted)
{
    const char *name;

    for (int length; (length = next_name(&list, &name)) >= 0;)
        if (equals(name, length, wanted))
            return true;
    return false;
}

int hud_topo_names_valid(const char *list)
{
    const char *name;

    if (!list || !*list)
        return 1;
    for (int length; (length = next_name(&list, &name)) >= 0;) {
        bool known = false;

        for (int kind = 0; kind < TOPO_KINDS; kind++)
            known = known || equals(name, length, hud_topo_kinds[kind].name);
        if (!known)
            return 0;
    }
    return 1;
}

/* The first of a level's names that is not listed, NULL: all are, and the level is off.  A group
 * that hwloc put around something else is no other name. */
static const char *kept_name(const struct topo *t, int level, const char *off)
{
    const char *name = hud_topo_level_name(t, level);

    for (int kind = 0; kind < TOPO_GROUP && is_listed(off, name); kind++)
        if (t->level[level].also >> kind & 1)
            name = hud_topo_kinds[kind].name;
    return is_listed(off, name) ? NULL : name;
}

int hud_topo_kept(const struct topo *t, const char *off, char names[][TOPO_NAME])
{
    int kept = 0;

    for (int l = 0; l < t->levels; l++) {
        const char *name = kept_name(t, l, off);
        if (name)
            snprintf(names[kept++], TOPO_NAME, "%s", name);
    }
    return kept;
}

int hud_topo_place(const struct topo *t, const struct topo_cpus *cpus, int ranks, const char *off,
                   struct shape_place *place)
{
    int *unit = malloc(((size_t)t->levels * (size_t)ranks + 1) * sizeof *unit);
    int kept = 0;

    *place = (struct shape_place){ .ranks = ranks };
    if (!unit)
        return -1;
    for (int l = 0; l < t->levels; l++) {
        if (!kept_name(t, l, off))
            continue;
        for (int r = 0; r < ranks; r++)
            unit[kept * ranks + r] = hud_topo_unit(t, l, &cpus[r]);
        kept++;
    }
    place->levels = kept;
    place->unit = unit;
    return 0;
}
