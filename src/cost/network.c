/* SPDX-License-Identifier: BSD-3-Clause */
/* network.c - see network.h. */
#include "cost/network.h"

#include <math.h>
#include <stddef.h>

const struct cost_network hud_cost_network_usual = {
    .alpha_ns = 5e4, .beta_ns = 47, .overhead_ns = 5e4, .send_ns = 5e4
};

const char *const hud_cost_spread_kinds[] = { "k-ary", "k-nomial" };

bool hud_cost_network_valid(const struct cost_network *c)
{
    return isfinite(c->alpha_ns) && isfinite(c->beta_ns) && c->alpha_ns > 0 && c->beta_ns >= 0 &&
           c->overhead_ns >= 0 && c->overhead_ns <= c->alpha_ns && c->send_ns >= 0 &&
           c->send_ns <= c->overhead_ns;
}

int hud_cost_log(int ranks, int degree)
{
    int steps = 0;

    for (long long reached = 1; reached < ranks; reached *= degree)
        steps++;
    return steps;
}

struct counts {
    double below, before, children; /* h, e, w */
};

/* Returns the number of levels below the root of a complete k-ary tree. */
static int kary_depth(int nodes, int degree)
{
    int depth = 0;

    for (long long level = 1, reached = 1; reached < nodes; reached += level) {
        level *= degree;
        depth++;
    }
    return depth;
}

static int knomial_children(int nodes, int degree)
{
    int children = 0;

    for (long long step = 1; step < nodes; step *= degree) {
        long long here = (nodes - 1) / step;
        children += here < degree ? (int)here : degree - 1;
    }
    return children;
}

static struct counts count(int nodes, const struct cost_spread *spread)
{
    int degree = spread->degree;

    if (spread->kind == COST_SPREAD_KARY) {
        int depth = degree == 1 ? nodes - 1 : kary_depth(nodes, degree);
        return (struct counts){ depth, (double)depth * (degree - 1), degree };
    }
    int depth = hud_cost_log(nodes, degree);
    return (struct counts){ depth, (double)depth * (degree - 2), knomial_children(nodes, degree) };
}

double hud_cost_spread_ns(const struct cost_network *c, int nodes, double bytes,
                          const struct cost_spread *spread)
{
    const struct counts n = count(nodes, spread);
    double segment = fmin(spread->segment_bytes, bytes), segments = ceil(bytes / segment);
    double copy = segment * c->beta_ns;

    return copy + n.below * (c->alpha_ns + copy) + n.before * (c->send_ns + copy) +
           (segments - 1) * n.children * (c->overhead_ns + copy);
}

double hud_cost_spread_segment(const struct cost_network *c, int nodes, double bytes,
                               const struct cost_spread *spread, double min, double max)
{
    const struct counts n = count(nodes, spread);
    double hops = fmax(1, 1 + n.below + n.before - n.children);
    double best =
        c->beta_ns > 0 ? sqrt(bytes * n.children * c->overhead_ns / (hops * c->beta_ns)) : bytes;

    return fmin(bytes, fmin(max, fmax(min, best)));
}

/* Chooses the segment and returns the time.  A message is a whole number of segments, so the two
 * numbers next to the best s are compared. */
static double fit(const struct cost_network *c, int nodes, double bytes, struct cost_spread *tried,
                  double min, double max)
{
    double count = bytes / hud_cost_spread_segment(c, nodes, bytes, tried, min, max);
    struct cost_spread longer = *tried;

    tried->segment_bytes = bytes / ceil(count);
    longer.segment_bytes = bytes / floor(count);
    double ns = hud_cost_spread_ns(c, nodes, bytes, tried),
           longer_ns = hud_cost_spread_ns(c, nodes, bytes, &longer);
    if (longer.segment_bytes > max || (longer_ns >= ns && tried->segment_bytes >= min))
        return ns;
    *tried = longer;
    return longer_ns;
}

struct cost_spread hud_cost_spread_choose(const struct cost_network *c, int nodes, double bytes,
                                          double min, double max)
{
    const struct cost_spread trees[] = {
        { COST_SPREAD_KNOMIAL, 2, 0 }, { COST_SPREAD_KARY, 1, 0 },    { COST_SPREAD_KARY, 2, 0 },
        { COST_SPREAD_KNOMIAL, 3, 0 }, { COST_SPREAD_KNOMIAL, 4, 0 }, { COST_SPREAD_KNOMIAL, 6, 0 },
        { COST_SPREAD_KNOMIAL, 8, 0 },
    };
    struct cost_spread best = { COST_SPREAD_KNOMIAL, nodes > 2 ? nodes : 2, 0 };
    double best_ns = fit(c, nodes, bytes, &best, min, max);

    for (size_t i = 0; i < sizeof trees / sizeof *trees; i++) {
        struct cost_spread tried = trees[i];
        if (tried.degree > 2 && tried.degree >= nodes)
            continue;
        double ns = fit(c, nodes, bytes, &tried, min, max);
        if (ns < best_ns) {
            best = tried;
            best_ns = ns;
        }
    }
    return best;
}

enum shape_kind hud_cost_spread_shape(const struct cost_spread *spread)
{
    if (spread->kind == COST_SPREAD_KNOMIAL)
        return SHAPE_KNOMIAL;
    return spread->degree == 1 ? SHAPE_CHAIN : SHAPE_KARY;
}

long hud_cost_spread_fragment(size_t bytes, const struct cost_spread *spread)
{
    size_t max = (size_t)spread->segment_bytes, fragments = (bytes + max - 1) / max;

    return (long)((bytes + fragments - 1) / fragments);
}

int hud_cost_rings(size_t bytes, int nodes, size_t chunk_bytes)
{
    enum { SHORT_BYTES = 2 << 10, LONG_BYTES = 8 << 10 };
    size_t chunk = bytes < chunk_bytes ? bytes : chunk_bytes, share = chunk / (size_t)nodes,
           rings = share / LONG_BYTES;

    if (share < SHORT_BYTES && bytes < chunk_bytes)
        return 0;
    return rings > 1 ? (int)rings : 1;
}

double hud_cost_mpi_broadcast_ns(const struct cost_network *c, int nodes, double bytes)
{
    double levels = hud_cost_log(nodes, 2), others = nodes - 1;

    return fmin(levels * (c->alpha_ns + bytes * c->beta_ns),
                (levels + others) * c->alpha_ns + 2 * bytes * c->beta_ns * others / nodes);
}

bool hud_cost_ring_fills(const struct cost_network *c, int nodes, double bytes)
{
    const double memory_ns = .1, much = 8; /* time per byte copied; factor: both are assumed */
    double message = fmin((double)COST_RING_BYTES / (nodes + COST_RING_MORE), bytes / nodes);

    return bytes > COST_RING_BYTES / 2.0 && message * c->beta_ns >= c->alpha_ns &&
           bytes * c->beta_ns >= much * nodes * c->alpha_ns && c->beta_ns >= much * memory_ns;
}

bool hud_cost_spread_gains(const struct cost_network *c, int nodes, double bytes,
                           const struct cost_spread *spread)
{
    const double clearly = .9;

    return spread->segment_bytes < bytes &&
           hud_cost_spread_ns(c, nodes, bytes, spread) <=
               clearly * hud_cost_mpi_broadcast_ns(c, nodes, bytes);
}
