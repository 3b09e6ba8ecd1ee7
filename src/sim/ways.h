/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ways.h - the way from a place of bytes (caches.h) to a core of a machine: its distance, its time
 * per byte, and the resources that it uses (a path of flows.h).
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
#ifndef HUD_SIM_WAYS_H
#define HUD_SIM_WAYS_H

#include "sim/caches.h"
#include "sim/flows.h"
#include "sim/links.h"

struct sim_ways {
    const struct sim_machine *machine;
    const struct sim_links *links;
    int units, *unit, *unit_seat; /* of the shared level; [cores]; [units]: a core of each */
    int node_class;               /* of the cores of a node */
    int node_at, unit_at, process_at, resources;
    double streams_gbps[MACHINE_STREAMS + 1]; /* what so many flows get of a node */
    int streams;                              /* the maximum number of them that is limited so */
};

/* Both must live as long. */
struct sim_ways *hud_ways_create(const struct sim_machine *machine, const struct sim_links *links);
void hud_ways_free(struct sim_ways *w); /* NULL is allowed */
/* Flows over its resources, and caches like its own. */
struct sim_flows *hud_ways_flows(const struct sim_ways *w);
struct sim_caches *hud_ways_caches(const struct sim_ways *w);

/* How far the core is from a place: a class, and no nearer than cores that the place belongs to. */
int hud_ways_class(const struct sim_ways *w, int core, const struct caches_place *place);
/* ns a byte of a copy that has one end there; and what that is more than in its own private
 * cache. */
double hud_ways_byte_ns(const struct sim_ways *w, int core, const struct caches_place *place);
double hud_ways_extra_ns(const struct sim_ways *w, int core, const struct caches_place *place);
/* Bytes that go from the place to the core, or outwards from it, cross all that lies between, each
 * byte of the path `weight` times. */
void hud_ways_cross(const struct sim_ways *w, int core, const struct caches_place *place,
                    bool outwards, double weight, struct flow_path *path);

/* The kernel copies from or to the process on this core. */
void hud_ways_process(const struct sim_ways *w, int core, struct flow_path *path);

enum { WAYS_NAME = LINKS_NAME };

double hud_ways_gbps(const struct sim_ways *w, int resource);
/* As links are named; "memory 1", "shared cache 2"; "process on core 3". */
void hud_ways_name(const struct sim_ways *w, int resource, char name[WAYS_NAME]);

#endif
