/* SPDX-License-Identifier: BSD-3-Clause */
/* units.c - see units.h. */
#include "cost/units.h"

#include <math.h>

static double in_unit(const struct cost_units *c)
{
    return fmax(1, (double)c->ranks / c->units);
}

/* Returns the number of fragments, which is at least 1. */
static double fragments(const struct cost_units *c, double bytes)
{
    return fmax(1, ceil(bytes / c->fragment_bytes));
}

double hud_cost_allreduce_slices_ns(const struct cost_units *c, double bytes)
{
    double p = c->ranks, g = in_unit(c), far = 1 - 1. / c->units;
    double in = (1 - 1 / p) * c->byte_ns, reduced = (1 - far) * c->reduce_ns + far * c->far_ns;
    double out = fmax(0, 1 - far - 1 / p) * c->byte_ns + far * c->far_ns;

    return 2 * fragments(c, bytes) * c->line_ns +
           bytes * fmax(in + reduced + out, 2 * (p - g) * g / p / c->link_gbps);
}

double hud_cost_allreduce_levels_ns(const struct cost_units *c, double bytes)
{
    double p = c->ranks, g = in_unit(c), others = c->units - 1;
    double near = 2 * (1 - 1 / g) * c->byte_ns + c->reduce_ns,
           far = (others / p + 1 / g - 1 / p) * c->far_ns;

    return 4 * fragments(c, bytes) * c->line_ns +
           bytes * fmax(near + far, 2 * (1 - 1. / c->units) / c->link_gbps);
}

struct cost_units hud_cost_units_typical(int ranks, double fragment_bytes)
{
    return (struct cost_units){ .ranks = ranks,
                                .units = 2,
                                .line_ns = 160,
                                .byte_ns = 1 / 15.,
                                .far_ns = 2 / 15.,
                                .reduce_ns = 1 / 20.,
                                .link_gbps = 24 * 5.1,
                                .fragment_bytes = fragment_bytes };
}
