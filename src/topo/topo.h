/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * topo.h - the machine: from hwloc to active levels, and to the unit of each level within which
 * each rank is bound.
 *
 * Active levels (paper 03, step 1) are levels of the memory hierarchy that two or more cores share,
 * from the lowest up: L2, L3, die or hwloc group, NUMA node, socket.  A level with one unit for the
 * whole machine is not active.  A level of several kinds is one level, with the first name of numa,
 * socket, l3, die, l2, group.  Each unit of a level is within one unit of any higher level.  The
 * view of one rank (the team's rank 0) serves the whole team; everything here is private memory.
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
}; /* processors by their OS number; a rank that may use a higher one counts as unbound */

/* The processors a rank may run on. */
struct topo_cpus {
    uint64_t word[TOPO_CPUS / 64];
};

struct topo;

/*
 * This machine, with processors that this process may not use included.  A few ms; changes no
 * thread's binding.  NULL: hwloc failed (the machine then has no levels).
 */
struct topo *hud_topo_load(void);
/* A machine described by hwloc: "pack:2 l3:2 ..." (synthetic) or the path of an XML dump (its name
 * ends in .xml). NULL: not a valid topology, or larger than TOPO_CPUS. */
struct topo *hud_topo_load_described(const char *description);
void hud_topo_free(struct topo *t);

int hud_topo_levels(const struct topo *t); /* active levels; 0 is the lowest */
const char *hud_topo_level_name(const struct topo *t,
                                int level); /* not unique: hwloc may know groups of groups */
int hud_topo_level_of(
    const struct topo *t,
    const char *name); /* the lowest that bears the name, be it not its first; -1: none */
int hud_topo_level_units(const struct topo *t, int level);
uint64_t hud_topo_memory(const struct topo *t); /* bytes of all NUMA nodes */
int hud_topo_cores(const struct topo *t);
/* All processors of the machine. */
void hud_topo_all(const struct topo *t, struct topo_cpus *cpus);
/* The unit (0, 1, ... by their lowest processors) of a level that holds all of cpus, -1: none does,
 * or there are none. */
int hud_topo_unit(const struct topo *t, int level, const struct topo_cpus *cpus);

/*
 * Where a launcher would bind ranks: "core": to the usable processors in turn; "numa", "socket" or
 * another level's name: to those of its units in turn, "none": to all.  A level that the machine
 * does not have is "core".  False: out of memory.
 */
bool hud_topo_bind(const struct topo *t, const struct topo_cpus *usable, const char *map, int ranks,
                   struct topo_cpus *cpus);

/*
 * Fills place with the units of every level that has a name which is not in the comma-separated
 * list `off` ("" or NULL: all are on). place->unit is allocated; release with free((void
 * *)place->unit).  Returns 0, or -1: out of memory.
 */
int hud_topo_place(const struct topo *t, const struct topo_cpus *cpus, int ranks, const char *off,
                   struct shape_place *place);
/* The largest caches (L3, else L2). */
struct topo_caches {
    int64_t count; /* 0: not known */
    int64_t bytes; /* of the smallest of them */
};
struct topo_caches hud_topo_caches(const struct topo *t);
/* The one of them that holds all of each rank's processors, -1: none does. */
void hud_topo_cache_units(const struct topo *t, const struct topo_cpus *cpus, int ranks, int *unit);
/* What a rank has of the one with most ranks; 0: not known. */
uint64_t hud_topo_cache_share(const struct topo_caches *caches, const int *unit, int ranks);
/* The names of the levels that hud_topo_place keeps, in its order; `names` holds SHAPE_LEVELS.
 * Returns how many. */
int hud_topo_kept(const struct topo *t, const char *off, char names[][TOPO_NAME]);
/* True when every name in the list is one that a level may have: l2, l3, die, group, numa,
 * socket. */
int hud_topo_names_valid(const char *list);

/* Sockets, cores, NUMA nodes (OS number, bytes, processors), levels and units, as a JSON object in
 * a string for free().  NULL: out of memory. */
char *hud_topo_json(const struct topo *t);

/* ---- this process (no topology is loaded; a few small files) ---- */

void hud_topo_allowed(
    struct topo_cpus *cpus); /* affinity of the calling thread; all ones: unbound, or not known */
int hud_topo_cpus_count(const struct topo_cpus *cpus);
int hud_topo_numa_nodes(void); /* of the machine, >= 1 */
/* The OS number of the one NUMA node that holds them all, -1: several, or not known. */
int hud_topo_home_node(const struct topo_cpus *cpus);
/* What the machine calls its processors ("Intel(R) Xeon(R) ..."; Arm: implementer and part); "":
 * nothing. */
void hud_topo_cpu_name(char *name, size_t bytes);
enum topo_vendor { TOPO_OTHER, TOPO_AMD, TOPO_INTEL, TOPO_VENDORS };
extern const char *const hud_topo_vendors[TOPO_VENDORS]; /* "other", "amd", "intel" */
enum topo_vendor hud_topo_vendor(void);                  /* of the processors */
int hud_topo_node_here(void); /* where the calling thread runs now, -1: not known */
/* Processors the job's ranks may use at once: the affinity union is the caller's; this is the
 * cgroup's CPU quota, rounded up; INT_MAX: none. */
int hud_topo_cpu_quota(void);

#endif
