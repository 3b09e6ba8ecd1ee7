/* SPDX-License-Identifier: BSD-3-Clause */
/* machine.h - the data about a machine that huddle keeps from hwloc: plain tables, so that a query
 * is a look-up and no memory of hwloc stays allocated.  Private to src/topo. */
#ifndef HUD_TOPO_MACHINE_H
#define HUD_TOPO_MACHINE_H

#include "topo/topo.h"

#include <stdbool.h>

enum { TOPO_MOST_LEVELS = SHAPE_LEVELS - 1 }; /* shape adds the top level, which holds all ranks */

/* Kinds of levels, in the order of their names' precedence.  A level of several kinds (an L3 that
 * is a NUMA node) has the first name. */
enum topo_kind { TOPO_NUMA, TOPO_SOCKET, TOPO_L3, TOPO_DIE, TOPO_L2, TOPO_GROUP, TOPO_KINDS };

extern const char hud_topo_kinds[TOPO_KINDS][TOPO_NAME];

/* Disjoint sets of processors. */
struct topo_units {
    int count;
    int16_t of[TOPO_CPUS]; /* the unit of a processor, by OS number; -1: none */
};

struct topo_level {
    enum topo_kind kind;
    unsigned also; /* other kinds with the same units, as a bit mask */
    struct topo_units units;
};

struct topo_node {
    int os; /* OS number */
    uint64_t bytes;
    struct topo_cpus cpus; /* the node's processors; empty: memory only */
};

struct topo {
    struct topo_cpus cpus;
    int sockets, cores, levels, nodes;
    struct topo_level
        level[TOPO_MOST_LEVELS]; /* lowest first; each unit is within a unit of every higher
                                    level */
    struct topo_node *node;
    struct topo_units caches; /* L3, or L2 if there is no L3 */
    uint64_t cache_bytes;     /* size of the smallest cache; 0: unknown */
};

/*
 * Asks hwloc for a described machine, as in hud_topo_load_described, or for this machine if
 * `description` is NULL.  In libhuddle, hwloc and this function are in a library that is loaded at
 * the first call (src/lazy_libs), because only a few of a job's ranks need them.
 */
struct topo *hud_topo_discover(const char *description);

/* Reads a list like "0-3,8" (list.c).  Ignores numbers from TOPO_CPUS on.  Returns false if the
 * text is not a list. */
bool hud_topo_list_read(const char *text, struct topo_cpus *set);
/* Writes a list, to be released with free().  Returns NULL if out of memory. */
char *hud_topo_list_write(const struct topo_cpus *set);

static inline bool topo_has(const struct topo_cpus *cpus, int cpu)
{
    return cpus->word[cpu / 64] >> (cpu % 64) & 1;
}

static inline void topo_add(struct topo_cpus *cpus, int cpu)
{
    cpus->word[cpu / 64] |= (uint64_t)1 << (cpu % 64);
}

#endif
