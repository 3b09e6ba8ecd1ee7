/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * links.h - the links that a line crosses from core to core: the meshes of the units that it
 * leaves, enters or stays in, the ports of those that it leaves or enters, and the link between two
 * sockets.  Each is a server, first come first served.  A line occupies it for line_bytes /
 * bandwidth.
 *
 * The longest wait on its way delays a line: its transfer is a pipeline over the links, and
 * transfer_ns includes their crossing.  The home of a line has such servers, too: agents of its
 * NUMA node, which order the requests for lines at home there.  A request occupies one for
 * home_busy_ns.
 * Crossings come in the order of their times (crossings.h).  Bytes that are not lines are flows
 * (flows.h) on the same links; lines and flows do not wait for each other.
 */
#ifndef HUD_SIM_LINKS_H
#define HUD_SIM_LINKS_H

#include "sim/machine.h"

enum {
    LINKS_WAY = 4 * MACHINE_CLASSES + 1,
    LINKS_NAME = 48,
    LINKS_OUTSIDE = -1
}; /* maximum links on one way; bytes of a name */

struct sim_link {
    int class;    /* of the units that it belongs to; -1: it connects two sockets */
    int from, to; /* units; equal: the unit's mesh; LINKS_OUTSIDE: a port */
    double gbps, free_ns;
    double bytes; /* that have crossed it */
};

struct sim_links;

struct sim_links *hud_links_create(const struct sim_machine *machine);
void hud_links_free(struct sim_links *all); /* NULL is allowed */

/* A core, or what hangs on the mesh of the unit of class `lowest` that the core lies in, as a
 * shared cache does. */
struct links_end {
    int core, lowest; /* 0: the core itself */
};

/* The links from one end to another, or from core to core, in no order.  Returns how many. */
int hud_links_between(const struct sim_links *all, struct links_end from, struct links_end to,
                      int way[LINKS_WAY]);
int hud_links_way(const struct sim_links *all, int from, int to, int way[LINKS_WAY]);
/* A line crosses them.  Returns how much later it comes than if they were idle; below 0: another
 * one has crossed later than this one would. */
double hud_links_cross(struct sim_links *all, int from, int to, double now_ns);

/* The agent for a line, the index-th of those at home on a node; -1: requests occupy none. */
int hud_links_agent(const struct sim_links *all, int node, size_t index);
/* A request comes to an agent: as hud_links_cross, at the same times. */
double hud_links_ask(struct sim_links *all, int agent, double now_ns);

int hud_links_count(const struct sim_links *all);
const struct sim_link *hud_links_get(const struct sim_links *all, int link);
/* "numa 3", "l3 2 out", "l3 2 in", "socket 0 to 1" */
void hud_links_name(const struct sim_links *all, int link, char name[LINKS_NAME]);
/* Lines that have come from a core of that class to another one. */
unsigned long hud_links_lines(const struct sim_links *all, int class);
/* Forget what has crossed so far; ranks that wait still do. */
void hud_links_forget(struct sim_links *all);

#endif
