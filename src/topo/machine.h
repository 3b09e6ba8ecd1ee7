/* SPDX-License-Identifier: BSD-3-Clause */
/* machine.h - the data about a machine that huddle keeps from hwloc: plain tables, so that a query
 * is a look-up and no memory of hwloc stays allocated.  Private to src/topo. */
#ifndef HUD_TOPO_MACHINE_H
#define HUD_TOPO_MACHINE_H

#include "topo/topo.h"

#include <stdbool.h>

enum {
    TOPO_MOST_LEVELS = SHAPE_LEVELS - 1
}; /* the top, which holds all ranks, is added by shape */

/* Kinds of levels, the one whose name counts first.  A level that is of several kinds (an L3 that
 * is a NUMA node) bears the first name. */
enum topo_kind { TOPO_NUMA, TOPO_SOCKET, TOPO_L3, TOPO_DIE, TOPO_L2, TOPO_GROUP, TOPO_KINDS };

extern const char hud_topo_kinds[TOPO_KINDS][TOPO_NAME];

/* Disjoint sets of processors. */
struct topo_units {
    int count;
    int16_t of[TOPO_CPUS]; /* the unit of a processor, by OS number; -1: in none */
};

struct topo_level {
    enum topo_kind kind;
    unsigned also; /* other kinds with the same units, a bit each */
    struct topo_units units;
};

struct topo_node {
    int os; /* number */
    uint64_t bytes;
    struct topo_cpus cpus; /* near it; none: memory only */
};

struct topo {
    struct topo_cpus cpus;
    int sockets, cores, levels, nodes;
    struct topo_level
        level[TOPO_MOST_LEVELS]; /* lowest first, each unit within one of every higher level */
    struct topo_node *node;
    struct topo_units caches; /* L3, else L2 */
    uint64_t cache_bytes;     /* of the smallest of them, 0: not known */
};

/*
 * Asks hwloc; description as in hud_topo_load_described, NULL: this machine.  In libhuddle hwloc
 * and this function are in a library that it loads at the first call (src/late): of a job's ranks
 * only a few need them.
 */
struct topo *hud_topo_discover(const char *description);

/* list.c: "0-3,8".  Numbers from TOPO_CPUS on are left out.  False: not a list. */
bool hud_topo_list_read(const char *text, struct topo_cpus *set);
/* For free(); NULL: out of memory. */
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
