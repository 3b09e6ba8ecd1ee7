/* SPDX-License-Identifier: BSD-3-Clause */
/* discover.h - converts hwloc's objects to struct topo.  Private to discover.c and levels.c. */
#ifndef HUD_TOPO_DISCOVER_H
#define HUD_TOPO_DISCOVER_H

#include "topo/machine.h"

#include <hwloc.h>

extern const hwloc_obj_type_t hud_topo_types[TOPO_KINDS];

/* Finds the largest shared caches of a loaded topology. */
void hud_topo_find_caches(hwloc_topology_t machine, struct topo *t);

/* Finds the active levels of a loaded topology; t->cpus must be set.  Returns 0, or -1 if out of
 * memory. */
int hud_topo_find_levels(hwloc_topology_t machine, struct topo *t);

#endif
