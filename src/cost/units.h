/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * units.h - large messages on many ranks over several units (sockets, NUMA nodes): through one level, where each rank reads across the links what it needs,
 * or by levels, where a unit's ranks share what has come over once.
 *
 * P ranks, g of them in each of G units; n bytes, fragments of f; l a line transfer between units, t ns a byte copied, r ns a byte that a reduction reads; a
 * unit's caches and memory serve U, and a link between two units carries L, in bytes/ns.  Each formula is the larger of what a rank does and what links or
 * units let through:
 *
 *   bcast, queue        n/f l + (n + f) t                                          n (g / U);  n (P - g) / L
 *   bcast, levels       (n/f + 1) l + (n + f) 2 t                                  n (g / U);  n (G - 1) / L
 *   allreduce, slices   2 F l + 2 (1 - 1/P) n t + n r                              n (P - g) g/P 2 / L
 *   allreduce, levels   4 F l + 2 (1 - 1/g) n t + (1/g - 1/P) n t + n r + G n/P r  2 (1 - 1/G) n / L
 *
 * The first of a line: the heads of bcast/queue.c, bcast/levels.c, allreduce/slices.c and allreduce/levels.c; F = ceil(n/f).
 */
#ifndef HUD_COST_UNITS_H
#define HUD_COST_UNITS_H

struct cost_units {
    int ranks, units;            /* P, G; g = P / G */
    double line_ns;              /* l */
    double byte_ns, reduce_ns;   /* t, r */
    double unit_gbps, link_gbps; /* U, L */
    double fragment_bytes;       /* f */
};

double hud_cost_bcast_queue_ns(const struct cost_units *c, double bytes);
double hud_cost_bcast_levels_ns(const struct cost_units *c, double bytes);
double hud_cost_allreduce_slices_ns(const struct cost_units *c, double bytes);
double hud_cost_allreduce_levels_ns(const struct cost_units *c, double bytes);

/*
 * A two-socket server as far as published figures tell (Ice Lake, 2 x 24 cores, XHC's authors: readers of one broadcast have 15, 8.7 and 5.1 GB/s each where
 * they are 1, 23 and 47): a core copies 15, the readers' own socket serves 24 x 8.7, and 24 x 5.1 come over the link.  A line 160 ns: the median of the
 * described machines' farthest.  A core reduces 20 GB/s of what it reads: assumed.
 */
struct cost_units hud_cost_units_typical(int ranks, double fragment_bytes);

#endif
