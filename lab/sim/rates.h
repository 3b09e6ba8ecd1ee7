/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rates.h - distance and time per byte from a place of bytes (caches.h) to a core of a machine, and
 * the resources that such a copy uses (a path of bandwidth.h).
 *
 * The resources are the links between the two (links.h); the memory controller of the node, if the
 * bytes are in memory; the shared cache of the core's unit, unless the bytes are in its own cache;
 * and the shared cache of another unit, if they are there.  A shared cache is on the mesh of its
 * unit's class, a memory on that of its node's class.  Evictions to a shared cache use no resource
 * that others wait for.
 *
 * Resources are numbered: links as in links.h, then memory controllers by node, then shared caches
 * by unit, then, where the machine has a limit for them, processes by core.
 */
#ifndef HUD_SIM_RATES_H
#define HUD_SIM_RATES_H

#include "lab/sim/bandwidth.h"
#include "lab/sim/caches.h"
#include "lab/sim/links.h"

struct sim_rates {
    const struct sim_machine *machine;
    const struct sim_links *links;
    /* Units of the shared level, the unit of each core [cores], and a core of each unit [units]. */
    int units, *unit, *unit_seat;
    int node_class; /* class of the cores of a NUMA node */
    int node_at, unit_at, process_at, resources;
    double streams_gbps[MACHINE_STREAMS + 1]; /* limit of so many flows to a node's memory */
    int streams;                              /* highest number of flows with such a limit */
};

/* Creates the resources of a machine.  `machine` and `links` must outlive the result. */
struct sim_rates *hud_rates_create(const struct sim_machine *machine,
                                   const struct sim_links *links);
/* Frees the resources, which may be NULL. */
void hud_rates_free(struct sim_rates *w);
/* Creates flows over these resources.  hud_rates_caches creates the caches of the machine. */
struct sim_bandwidth *hud_rates_flows(const struct sim_rates *w);
struct sim_caches *hud_rates_caches(const struct sim_rates *w);

/* Returns the class of the distance from the core to a place, which is at least the class of the
 * unit or node that the place belongs to. */
int hud_rates_class(const struct sim_rates *w, int core, const struct caches_place *place);
/* Returns the time in ns per byte of a copy's end at this place.  hud_rates_extra_ns returns the
 * extra time compared with an end in the core's own private cache. */
double hud_rates_byte_ns(const struct sim_rates *w, int core, const struct caches_place *place);
double hud_rates_extra_ns(const struct sim_rates *w, int core, const struct caches_place *place);
/* Returns the time in ns per byte in which the core returns bytes after a read (writes.h). */
double hud_rates_return_ns(const struct sim_rates *w, int core, const struct caches_place *place);
/* Adds to a path all resources between the place and the core, each with `weight` bytes per byte of
 * the path.  The bytes go to the core, or from it if `outwards`. */
void hud_rates_cross(const struct sim_rates *w, int core, const struct caches_place *place,
                     bool outwards, double weight, struct flow_path *path);

/* Adds to a path the limit of copies by the kernel from or to the process on this core. */
void hud_rates_process(const struct sim_rates *w, int core, struct flow_path *path);

enum { WAYS_NAME = LINKS_NAME };

double hud_rates_gbps(const struct sim_rates *w, int resource);
/* Writes the name of a resource: a link's name, "memory 1", "shared cache 2" or "process on core
 * 3". */
void hud_rates_name(const struct sim_rates *w, int resource, char name[WAYS_NAME]);

#endif
