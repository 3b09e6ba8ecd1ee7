/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * topo/discover.c - asks hwloc once and keeps plain tables.
 *
 * hwloc loads a separate topology, without I/O, instruction caches and other objects that huddle
 * does not use, but with the processors that this process may not use: otherwise rank 0's cpuset
 * would hide the other ranks' cores.  hwloc changes no thread's binding while it loads, because
 * other threads of the program may be starting threads meanwhile.  It does not load its plugins if
 * this can be avoided (no_plugins.h).
 */
#include "topo/discover.h"
#include "topo/no_plugins.h"

#include <ctype.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Returns the flags for loading: include the processors of other processes, leave the threads'
 * bindings alone, and skip unused data.  The MPI may have loaded an hwloc that is older than our
 * header. */
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
 * Returns whether a synthetic description has more than TOPO_CPUS processors or MAX_NODES NUMA
 * nodes: hwloc would spend minutes and all memory on building such a machine.  A number after a
 * space or a colon multiplies the count; a number in brackets does not, but describes memory.
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
        /* Attributes follow a number.  Elsewhere hwloc skips a parenthesis, up to the colon. */
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
         kind++) /* skip groups that only repeat other levels, and groups of other objects */
        failed = hwloc_topology_set_type_filter(
            machine, hud_topo_types[kind],
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
        free(t->node);
        free(t);
        return NULL;
    }
    return t;
}

/* Returns whether a machine has processors beyond TOPO_CPUS.  A described machine is then refused,
 * instead of silently losing processors. */
static bool is_too_large(hwloc_topology_t machine)
{
    return hwloc_bitmap_last(hwloc_topology_get_topology_cpuset(machine)) >= TOPO_CPUS;
}

static struct topo *ask(const char *description)
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

/* Asks hwloc, without plugins unless XML is read: a plugin of hwloc reads XML of other programs. */
struct topo *hud_topo_discover(const char *description)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

    pthread_mutex_lock(&lock);
    bool plain = !description && !getenv("HWLOC_XMLFILE") && hud_no_plugins_begin();
    struct topo *t = ask(description);
    if (plain)
        hud_no_plugins_end();
    pthread_mutex_unlock(&lock);
    return t;
}
