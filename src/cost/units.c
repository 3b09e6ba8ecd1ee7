/* SPDX-License-Identifier: BSD-3-Clause */
/* units.c - see units.h. */
#include "cost/units.h"

#include <math.h>

static double in_unit(const struct cost_units *c)
{
    return fmax(1, (double)c->ranks / c->units);
}

/* Fragments, of which there is at least one. */
static double fragments(const struct cost_units *c, double bytes)
{
    return fmax(1, ceil(bytes / c->fragment_bytes));
}

static double first(const struct cost_units *c, double bytes)
{
    return fmin(c->fragment_bytes, bytes);
}

double hud_cost_bcast_queue_ns(const struct cost_units *c, double bytes)
{
    double told_ns = fragments(c, bytes) * c->line_ns, rank_ns = (bytes + first(c, bytes)) * c->byte_ns;
    double far = c->ranks - in_unit(c), through_ns = bytes * fmax(in_unit(c) / c->unit_gbps, far / c->link_gbps);

    return told_ns + fmax(rank_ns, through_ns);
}

double hud_cost_bcast_levels_ns(const struct cost_units *c, double bytes)
{
    double told_ns = (fragments(c, bytes) + 1) * c->line_ns, rank_ns = (bytes + first(c, bytes)) * 2 * c->byte_ns;
    double through_ns = bytes * fmax(in_unit(c) / c->unit_gbps, (c->units - 1) / c->link_gbps);

    return told_ns + fmax(rank_ns, through_ns);
}

double hud_cost_allreduce_slices_ns(const struct cost_units *c, double bytes)
{
    double p = c->ranks, g = in_unit(c);
    double rank_ns = 2 * (1 - 1 / p) * bytes * c->byte_ns + bytes * c->reduce_ns;

    return 2 * fragments(c, bytes) * c->line_ns + fmax(rank_ns, 2 * bytes * (p - g) * g / p / c->link_gbps);
}

double hud_cost_allreduce_levels_ns(const struct cost_units *c, double bytes)
{
    double p = c->ranks, g = in_unit(c), units = c->units;
    double copied = (2 * (1 - 1 / g) + 1 / g - 1 / p) * bytes, reduced = bytes + units / p * bytes;

    return 4 * fragments(c, bytes) * c->line_ns +
           fmax(copied * c->byte_ns + reduced * c->reduce_ns, 2 * (1 - 1 / units) * bytes / c->link_gbps);
}

struct cost_units hud_cost_units_typical(int ranks, double fragment_bytes)
{
    return (struct cost_units){ .ranks = ranks,
                                .units = 2,
                                .line_ns = 160,
                                .byte_ns = 1 / 15.,
                                .reduce_ns = 1 / 20.,
                                .unit_gbps = 24 * 8.7,
                                .link_gbps = 24 * 5.1,
                                .fragment_bytes = fragment_bytes };
}
