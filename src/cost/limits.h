/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * limits.h - what no collective on one node can beat, and what its plainest good schemes reach,
 * from a handful of numbers of a machine.
 *
 * Ranks form groups (paper 03): a level has groups of some members, a line crosses from one of them
 * to another in line_ns, and a core that reads several of theirs, one after the other, gets the
 * next ones gap_ns apart.  P ranks, m bytes; a core copies b bytes/s; the memory of all ranks'
 * nodes moves B, a byte copied being one read and one written; a link from one socket to another
 * carries L.  Times in ns; 1 GB/s is 1e9 bytes/s.
 *
 * Bounds, of which the largest is the limit:
 *   latency   the farthest two ranks: each ends only when all others (of a broadcast: the root)
 *             have begun
 *   cores     bytes of others that one core must move, from wherever they come fastest, over b
 *   memory    bytes that all must move, over B; not for what stays in caches
 *   links     bytes that must cross to or from one socket, over L
 *
 * Schemes:
 *   gather    the groups tell their leaders, level by level: sum over levels of l + (members - 2) g
 *   release   the leaders tell their groups: sum over levels of l; several readers of one line are
 *             served a gap apart, which the machine may say too
 *   doubling  dissemination in ceil(log2 P) rounds: in the lowest log2(members) of them lines cross
 *             within the lowest level, and so on
 *   ring      copy-in/copy-out through a queue that stays in caches, by fragments of f bytes: (1 +
 *             f/m) m/b; through memory: 2 m more at the root
 */
#ifndef HUD_COST_LIMITS_H
#define HUD_COST_LIMITS_H

enum { COST_LEVELS = 8 };

struct cost_level {
    int members; /* of the largest group, >= 1 */
    double line_ns, gap_ns;
};

struct cost_node {
    int ranks, sockets; /* sockets that have ranks, equally many each */
    int levels;         /* lowest first */
    struct cost_level level[COST_LEVELS];
    double core_gbps, memory_gbps, link_gbps; /* b, B, L; 0: not known, no limit */
    double reduce_gbps; /* of a reduction, where it is more than b: what a core reads of others as
                           it adds; 0: b */
    double cache_bytes; /* of all ranks together: what lies there costs no memory */
};

enum cost_coll {
    COST_BARRIER,
    COST_BCAST,
    COST_REDUCE,
    COST_ALLREDUCE,
    COST_REDUCE_SCATTER,
    COST_ALLTOALL,
    COST_COLLS
};

extern const char
    *const hud_cost_colls[COST_COLLS + 1]; /* as huddle's collectives are named; ended by NULL */

/* Bytes are those of a rank's contribution; of an alltoall, what each has for each. */
struct cost_limit {
    double latency_ns, cores_ns, memory_ns, links_ns;
};

void hud_cost_limit(const struct cost_node *node, enum cost_coll coll, double bytes,
                    struct cost_limit *limit);
double hud_cost_limit_ns(const struct cost_limit *limit); /* the largest */

double hud_cost_gather_ns(const struct cost_node *node);
double hud_cost_release_ns(const struct cost_node *node);
double hud_cost_doubling_ns(const struct cost_node *node);
double hud_cost_ring_ns(const struct cost_node *node, double message_bytes, double fragment_bytes);

#endif
