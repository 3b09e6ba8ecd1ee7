/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * units.h - the time of a large allreduce on many ranks over several units (sockets, NUMA nodes).
 * In slices, each rank reads the data that it needs across the links.  By levels, a unit makes one
 * partial result, and its ranks share data that has crossed a link once.
 *
 * There are P ranks, g of them in each of G units; n bytes in F = ceil(n/f) fragments of f.  l is a
 * line transfer between units; t is ns per byte copied within a unit, T from another unit, r ns per
 * byte that a reduction reads; a link between two units carries L bytes/ns.  The time is the larger
 * of a rank's time and a link's time:
 *
 *   slices   2 F l + (1 - 1/P) n t + (1/G n r + (1 - 1/G) n T) + ((1/G - 1/P) n t + (1 - 1/G) n T)
 *   2 n (P - g) g/P / L
 *   levels   4 F l + 2 (1 - 1/g) n t + n r + ((G - 1)/P + 1/g - 1/P) n T
 *   2 (1 - 1/G) n / L
 *
 * These are the costs of slices/allreduce.c and allreduce/levels.c, with separate costs for data
 * from another unit: contributions of a slice and other units' results in the first, partial
 * results and results in the second.
 */
#ifndef HUD_COST_UNITS_H
#define HUD_COST_UNITS_H

struct cost_units {
    int ranks, units;                  /* P, G; g = P / G */
    double line_ns;                    /* l */
    double byte_ns, far_ns, reduce_ns; /* t, T, r */
    double link_gbps;                  /* L */
    double fragment_bytes;             /* f */
};

double hud_cost_allreduce_slices_ns(const struct cost_units *c, double bytes);
double hud_cost_allreduce_levels_ns(const struct cost_units *c, double bytes);

/*
 * Returns the costs of a two-socket server, as far as published figures tell.  Ice Lake, 2 x 24
 * cores, measured by XHC's authors: a single reader of a broadcast has 15 GB/s, which is taken as
 * the rate of a core; with 47 readers each has 5.1, so 24 x 5.1 come over the link.  The rate from
 * the other socket is half as much: Kunpeng 920 has 11.1 and 7.2 GB/s, and takes two to three times
 * as long for a line.  A line takes 160 ns, the median of the farthest lines of the described
 * machines.  Assumed: a core reads the sources of a reduction at 20 GB/s.
 */
struct cost_units hud_cost_units_typical(int ranks, double fragment_bytes);

#endif
