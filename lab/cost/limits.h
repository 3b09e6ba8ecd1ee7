/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * limits.h - lower bounds for a collective on one node, and the times of simple good schemes, from
 * a few numbers of a machine.
 *
 * Ranks form groups (paper 03).  At a level, groups have some members.  A line crosses from one
 * member to another in line_ns.  A core that reads lines of several members, one after the other,
 * gets them gap_ns apart.  There are P ranks and m bytes.  A core copies b bytes/s.  The memory of
 * all ranks' nodes moves B bytes/s, where a copied byte is one read and one written.  A link
 * between two sockets carries L bytes/s.  Times are in ns; 1 GB/s is 1e9 bytes/s.
 *
 * Bounds; the limit is the largest of them:
 *   latency   the farthest two ranks: each ends only after all others (in a broadcast: the root)
 *             have begun
 *   cores     bytes of other ranks that one core must move, from the fastest place, divided by b
 *   memory    bytes that all ranks must move, divided by B; not for bytes that stay in caches
 *   links     bytes that must cross to or from one socket, divided by L
 *
 * Schemes:
 *   gather    the groups signal their leaders, level by level: sum over levels of
 *             l + (members - 2) g
 *   release   the leaders release their groups: sum over levels of l; several readers of one line
 *             are served a gap apart, which the machine may specify
 *   doubling  dissemination in ceil(log2 P) rounds: in the lowest log2(members) of them lines cross
 *             within the lowest level, and so on
 *   ring      copy-in/copy-out through a queue that stays in caches, by fragments of f bytes: (1 +
 *             f/m) m/b; through memory: 2 m more at the root
 */
#ifndef HUD_COST_LIMITS_H
#define HUD_COST_LIMITS_H

enum { COST_LEVELS = 8 };

struct cost_level {
    int members; /* size of the largest group, >= 1 */
    double line_ns, gap_ns;
};

struct cost_node {
    int ranks, sockets; /* sockets that have ranks, equal numbers each */
    int levels;         /* lowest first */
    struct cost_level level[COST_LEVELS];
    double core_gbps, memory_gbps, link_gbps; /* b, B, L; 0: unknown, no limit */
    double reduce_gbps; /* speed of a reduction, if larger than b: the rate at which a core reads
                           others' data as it adds; 0: b */
    /* Caches of all ranks together; data in the caches cost no memory bandwidth. */
    double cache_bytes;
};

/* Lower bounds of a call.  `bytes` is the size by which a collective's algorithm is chosen. */
struct cost_limit {
    double latency_ns, cores_ns, memory_ns, links_ns;
};

/* Computes the bounds of a collective whose descriptor (coll/coll.h) has a cost. */
void hud_cost_limit(const struct cost_node *node, int coll, double bytes, struct cost_limit *limit);
double hud_cost_limit_ns(const struct cost_limit *limit); /* the largest bound */

double hud_cost_gather_ns(const struct cost_node *node);
double hud_cost_release_ns(const struct cost_node *node);
double hud_cost_doubling_ns(const struct cost_node *node);

#endif
