/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * links.h - the links that a line crosses from core to core: the meshes of the units that it
 * leaves, enters or stays in, the ports of the units that it leaves or enters, and the link between
 * two sockets.  Each is a server, first come first served.  A line occupies it for line_bytes /
 * bandwidth.
 *
 * The longest wait on its way delays a line: its transfer is a pipeline over the links, and
 * transfer_ns includes their crossing.  The home of a line has such servers, too: agents of its
 * NUMA node, which order the requests for lines at home there.  A request occupies an agent for
 * home_busy_ns.
 *
 * Crossings come in the order of their times (transfers.h).  Bytes that are not lines are flows
 * (bandwidth.h) on the same links; lines and flows do not wait for each other.
 */
#ifndef HUD_SIM_LINKS_H
#define HUD_SIM_LINKS_H

#include "lab/sim/machine.h"

enum {
    LINKS_WAY = 4 * MACHINE_CLASSES + 1,
    LINKS_NAME = 48,
    LINKS_OUTSIDE = -1
}; /* LINKS_WAY: maximum links on one way; LINKS_NAME: bytes of a name */

struct sim_link {
    int class;    /* class of the units that it belongs to; -1 between two sockets */
    int from, to; /* units; equal for a unit's mesh, LINKS_OUTSIDE for a port */
    double gbps, free_ns;
    double bytes; /* bytes that have crossed it */
};

struct sim_links;

struct sim_links *hud_links_create(const struct sim_machine *machine);
/* Frees the links, which may be NULL. */
void hud_links_free(struct sim_links *all);

/* An end of a way: a core, or a part on the mesh of the core's unit of class `lowest`, such as a
 * shared cache. */
struct links_end {
    int core, lowest; /* 0 for the core itself */
};

/* Finds the links from one end to another, in no particular order.  hud_links_way does so from core
 * to core.  Returns the number of links. */
int hud_links_between(const struct sim_links *all, struct links_end from, struct links_end to,
                      int way[LINKS_WAY]);
int hud_links_way(const struct sim_links *all, int from, int to, int way[LINKS_WAY]);
/* Lets a line cross the links from core to core.  Returns the delay of the line in ns compared with
 * idle links, or a negative number if another line has already crossed at a later time. */
double hud_links_cross(struct sim_links *all, int from, int to, double now_ns);

/* Returns the agent of the index-th line at home on a node, or -1 if requests occupy no agent. */
int hud_links_agent(const struct sim_links *all, int node, size_t index);
/* Sends a request to an agent.  Returns its delay in ns, or a negative number like hud_links_cross,
 * with which calls must be in order of time. */
double hud_links_ask(struct sim_links *all, int agent, double now_ns);

int hud_links_count(const struct sim_links *all);
const struct sim_link *hud_links_get(const struct sim_links *all, int link);
/* Writes the name of a link: "numa 3", "l3 2 out", "l3 2 in" or "socket 0 to 1". */
void hud_links_name(const struct sim_links *all, int link, char name[LINKS_NAME]);
/* Returns the number of lines that have come from a core of this class to another core. */
unsigned long hud_links_lines(const struct sim_links *all, int class);
/* Resets the counts of lines and bytes.  Links stay occupied. */
void hud_links_forget(struct sim_links *all);

#endif
