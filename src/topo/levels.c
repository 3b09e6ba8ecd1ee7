/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * topo/levels.c - determines which levels of the memory hierarchy are active.
 *
 * Source  paper 03 (Kurnosov, Hierarchical MPI barrier for shared-memory multiprocessors),
 *         "Building the groups", step 1.
 * Rules   Candidates are examined by importance: NUMA nodes, sockets, L3, dies, L2, hwloc's groups
 *         (from the smallest up).  A level is left out if no two cores share a unit of it, if one
 *         unit is the whole machine, or if it does not nest with a level accepted before.  A level
 *         with the same units as an accepted level only adds its name.  So accepted levels always
 *         nest: NUMA nodes below or above sockets, groups below an L3, dies of some sockets.
 */
#include "topo/discover.h"

#include <stdlib.h>
#include <string.h>

const hwloc_obj_type_t hud_topo_types[TOPO_KINDS] = {
    [TOPO_NUMA] = HWLOC_OBJ_NUMANODE, [TOPO_SOCKET] = HWLOC_OBJ_PACKAGE,
    [TOPO_L3] = HWLOC_OBJ_L3CACHE,    [TOPO_DIE] = HWLOC_OBJ_DIE,
    [TOPO_L2] = HWLOC_OBJ_L2CACHE,    [TOPO_GROUP] = HWLOC_OBJ_GROUP,
};

/*
 * Returns whether another NUMA node represents this node's processors.  NUMA nodes are not a
 * partition if memory of several kinds exists: several nodes may have the same processors, a node
 * may have all processors of the machine, or none.  The smallest node represents its processors,
 * and the first of equal ones.
 */
static bool is_hidden(hwloc_topology_t machine, int depth, hwloc_obj_t node)
{
    int weight = hwloc_bitmap_weight(node->cpuset);

    if (weight <= 0)
        return true;
    for (hwloc_obj_t o = NULL; (o = hwloc_get_next_obj_by_depth(machine, depth, o)) != NULL;) {
        int other = hwloc_bitmap_weight(o->cpuset);
        bool before = other < weight || (other == weight && o->logical_index < node->logical_index);

        if (o != node && before && hwloc_bitmap_intersects(o->cpuset, node->cpuset))
            return true;
    }
    return false;
}

/* Renumbers the units by their lowest processor, as users expect. */
static void renumber(struct topo_units *units)
{
    int16_t number[TOPO_CPUS];

    memset(number, -1, sizeof number);
    units->count = 0;
    for (int c = 0; c < TOPO_CPUS; c++) {
        int16_t unit = units->of[c];

        if (unit >= 0 && number[unit] < 0)
            number[unit] = (int16_t)units->count++;
        units->of[c] = unit < 0 ? unit : number[unit];
    }
}

/* Reads the objects of a depth as units. */
static void read_units(hwloc_topology_t machine, int depth, struct topo_units *units)
{
    memset(units->of, -1, sizeof units->of);
    for (hwloc_obj_t o = NULL; (o = hwloc_get_next_obj_by_depth(machine, depth, o)) != NULL;) {
        int lowest = hwloc_bitmap_first(
            o->cpuset); /* the unit's number for now; a processor is in one unit only */

        if (o->type == HWLOC_OBJ_NUMANODE && is_hidden(machine, depth, o))
            continue;
        for (int c = lowest; c >= 0 && c < TOPO_CPUS; c = hwloc_bitmap_next(o->cpuset, c))
            units->of[c] = (int16_t)lowest;
    }
    renumber(units);
}

void hud_topo_find_caches(hwloc_topology_t machine, struct topo *t)
{
    int depth = hwloc_get_type_depth(machine, HWLOC_OBJ_L3CACHE);

    depth = depth >= 0 ? depth : hwloc_get_type_depth(machine, HWLOC_OBJ_L2CACHE);
    if (depth < 0)
        return;
    read_units(machine, depth, &t->caches);
    for (hwloc_obj_t o = NULL; (o = hwloc_get_next_obj_by_depth(machine, depth, o)) != NULL;)
        if (o->attr->cache.size != 0 &&
            (t->cache_bytes == 0 || o->attr->cache.size < t->cache_bytes))
            t->cache_bytes = o->attr->cache.size;
}

static bool covers(const struct topo_units *units, const struct topo_cpus *cpus)
{
    for (int c = 0; c < TOPO_CPUS; c++)
        if (topo_has(cpus, c) && units->of[c] < 0)
            return false;
    return true;
}

/* Returns whether processors in the same unit of `low` are always in the same unit of `high`, or
 * all in none. */
static bool nests(const struct topo_units *low, const struct topo_units *high)
{
    int16_t within[TOPO_CPUS]; /* the unit of `high` that contains a unit of `low`; -2: not seen
                                  yet */

    for (int u = 0; u < low->count; u++)
        within[u] = -2;
    for (int c = 0; c < TOPO_CPUS; c++) {
        int16_t unit = low->of[c];

        if (unit >= 0 && within[unit] != -2 && within[unit] != high->of[c])
            return false;
        if (unit >= 0)
            within[unit] = high->of[c];
    }
    return true;
}

/* Returns whether every unit is equal to a unit of `others`. */
static bool repeats(const struct topo_units *units, const struct topo_units *others)
{
    for (int c = 0; c < TOPO_CPUS; c++)
        if (units->of[c] >= 0 && others->of[c] < 0)
            return false;
    return nests(units, others) && nests(others, units);
}

static bool is_useful(const struct topo_units *units, const struct topo_units *cores,
                      const struct topo_cpus *cpus)
{
    return !nests(units, cores) && !(units->count == 1 && covers(units, cpus));
}

/* Inserts a candidate at its place among the levels accepted so far, or drops it. */
static void take(struct topo *t, enum topo_kind kind, const struct topo_units *units)
{
    int at = 0;

    for (int l = 0; l < t->levels; l++)
        if (repeats(units, &t->level[l].units)) {
            t->level[l].also |= units->count == t->level[l].units.count ? 1U << kind : 0;
            return;
        }
    while (at < t->levels && nests(&t->level[at].units, units))
        at++;
    for (int l = at; l < t->levels; l++)
        if (!nests(units, &t->level[l].units))
            return;
    if (t->levels == TOPO_MOST_LEVELS)
        return;
    memmove(&t->level[at + 1], &t->level[at], (size_t)(t->levels - at) * sizeof t->level[0]);
    t->level[at].kind = kind;
    t->level[at].also = 0;
    t->level[at].units = *units;
    t->levels++;
}

int hud_topo_find_levels(hwloc_topology_t machine, struct topo *t)
{
    struct topo_units *cores = malloc(sizeof *cores), *units = malloc(sizeof *units);
    int core_depth = hwloc_get_type_depth(machine, HWLOC_OBJ_CORE),
        lowest = hwloc_topology_get_depth(machine) - 1;

    if (cores && units) {
        read_units(machine, core_depth >= 0 ? core_depth : lowest, cores);
        t->cores = cores->count;
        for (int kind = 0; kind < TOPO_KINDS; kind++)
            for (int d = lowest; d >= HWLOC_TYPE_DEPTH_NUMANODE;
                 d--) { /* NUMA nodes have their own depth, below 0 */
                if (hwloc_get_depth_type(machine, d) != hud_topo_types[kind])
                    continue;
                read_units(machine, d, units);
                if (is_useful(units, cores, &t->cpus))
                    take(t, (enum topo_kind)kind, units);
            }
    }
    free(cores);
    free(units);
    return cores && units ? 0 : -1;
}
