/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * topo.h - the machine: converts hwloc's objects to active levels, and finds the unit of each level
 * within which each rank is bound.
 *
 * Active levels (paper 03, step 1) are levels of the memory hierarchy that two or more cores share,
 * from the lowest up: L2, L3, die or hwloc group, NUMA node, socket.  A level with one unit for the
 * whole machine is not active.  A level of several kinds is one level, with the first name of numa,
 * socket, l3, die, l2, group.  Each unit of a level is within one unit of any higher level.  One
 * rank's view (the view of the team's rank 0) is used by the whole team; all data here is in
 * private memory.
 */
#ifndef HUD_TOPO_H
#define HUD_TOPO_H

#include "shape/shape.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    TOPO_CPUS = 4096,
    TOPO_NAME = 12
}; /* processors by OS number; a rank that may use a higher number counts as unbound */

/* The processors that a rank may run on. */
struct topo_cpus {
    uint64_t word[TOPO_CPUS / 64];
};

struct topo;

/*
 * Loads the topology of this machine, including processors that this process may not use.  Takes a
 * few ms; changes no thread's binding.  Returns NULL if hwloc failed; the machine then has no
 * levels.
 */
struct topo *hud_topo_load(void);
/* Loads a machine described for hwloc: "pack:2 l3:2 ..." (synthetic), or the path of an XML dump
 * with the extension .xml.  Returns NULL if the topology is not valid or larger than TOPO_CPUS. */
struct topo *hud_topo_load_described(const char *description);
void hud_topo_free(struct topo *t);

int hud_topo_levels(const struct topo *t); /* active levels; 0 is the lowest */
const char *hud_topo_level_name(const struct topo *t,
                                int level); /* not unique: hwloc may have groups of groups */
int hud_topo_level_of(
    const struct topo *t,
    const char *name); /* the lowest level with this name, even if another name comes first; -1:
                          none */
int hud_topo_level_units(const struct topo *t, int level);
uint64_t hud_topo_memory(const struct topo *t); /* bytes of all NUMA nodes */
int hud_topo_cores(const struct topo *t);
/* Returns all processors of the machine in *cpus. */
void hud_topo_all(const struct topo *t, struct topo_cpus *cpus);
/* Returns the unit (0, 1, ... by lowest processor) of a level that contains all of cpus, or -1 if
 * no unit does or cpus is empty. */
int hud_topo_unit(const struct topo *t, int level, const struct topo_cpus *cpus);

/*
 * Binds ranks as a launcher would, round robin: "core": to the usable processors; "numa", "socket"
 * or another level's name: to the processors of each unit; "none": to all processors.  A level that
 * the machine does not have means "core".  Returns false if out of memory.
 */
bool hud_topo_bind(const struct topo *t, const struct topo_cpus *usable, const char *map, int ranks,
                   struct topo_cpus *cpus);

/*
 * Fills place with the units of every level that has a name which is not in the comma-separated
 * list `off` ("" or NULL: all levels are on).  place->unit is allocated; release with free((void
 * *)place->unit).  Returns 0, or -1 if out of memory.
 */
int hud_topo_place(const struct topo *t, const struct topo_cpus *cpus, int ranks, const char *off,
                   struct shape_place *place);
/* The largest caches (L3, or L2 if there is no L3). */
struct topo_caches {
    int64_t count; /* 0: unknown */
    int64_t bytes; /* size of the smallest of these caches */
};
struct topo_caches hud_topo_caches(const struct topo *t);
/* Stores in unit[r] the cache that holds all processors of rank r, or -1 if there is none. */
void hud_topo_cache_units(const struct topo *t, const struct topo_cpus *cpus, int ranks, int *unit);
/* Returns the bytes of cache per rank in the cache with the most ranks, or 0 if unknown. */
uint64_t hud_topo_cache_share(const struct topo_caches *caches, const int *unit, int ranks);
/* Stores the names of the levels that hud_topo_place keeps, in its order; `names` has SHAPE_LEVELS
 * entries.  Returns the number of names. */
int hud_topo_kept(const struct topo *t, const char *off, char names[][TOPO_NAME]);
/* Returns whether every name in the list is valid for a level: l2, l3, die, group, numa, socket. */
int hud_topo_names_valid(const char *list);

/* ---- this process (no topology is loaded; a few small files) ---- */

void hud_topo_allowed(
    struct topo_cpus *cpus); /* affinity of the calling thread; all ones: unbound or unknown */
int hud_topo_cpus_count(const struct topo_cpus *cpus);
int hud_topo_numa_nodes(void); /* the machine's number, >= 1 */
/* Returns the OS number of the NUMA node that contains all of cpus, or -1 if there are several or
 * this is unknown. */
int hud_topo_home_node(const struct topo_cpus *cpus);
/* Stores the machine's name of its processors ("Intel(R) Xeon(R) ..."; on Arm implementer and
 * part), or "" if it has none. */
void hud_topo_cpu_name(char *name, size_t bytes);
int hud_topo_node_here(void); /* node of the calling thread's current processor; -1: unknown */
/* Returns the cgroup's CPU quota in processors, rounded up, or INT_MAX if there is none.  The
 * caller combines the quota with the affinities of the job's ranks. */
int hud_topo_cpu_quota(void);

#endif
