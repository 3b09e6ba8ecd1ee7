/* SPDX-License-Identifier: BSD-3-Clause */
/* limits.c - see limits.h. */
#include "lab/cost/limits.h"
#include "coll/coll.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

static double time_of(double bytes, double gbps)
{
    return gbps > 0 ? bytes / gbps : 0;
}

void hud_cost_limit(const struct cost_node *node, int coll, double bytes, struct cost_limit *limit)
{
    const struct coll_cost *row = hud_collectives[coll].meaning->cost;
    double p = node->ranks, k = p / fmax(1, node->sockets);
    double moved = (row->memory.m + row->memory.pm * p + row->memory.p2m * p * p) * bytes;

    *limit = (struct cost_limit){ .latency_ns = 0 };
    if (node->ranks < 2)
        return;
    for (int l = 0; l < node->levels; l++)
        limit->latency_ns = node->level[l].members > 1
                                ? fmax(limit->latency_ns, node->level[l].line_ns)
                                : limit->latency_ns;
    limit->cores_ns = time_of(
        (row->core.m + row->core.pm * p + row->core.m_p / p) * bytes,
        coll_has(coll, COLL_REDUCES) ? fmax(node->core_gbps, node->reduce_gbps) : node->core_gbps);
    limit->memory_ns = time_of(fmax(0, moved - node->cache_bytes), node->memory_gbps);
    limit->links_ns =
        node->sockets > 1
            ? time_of((row->link.m + row->link.km * k + row->link.k2m * k * k) * bytes,
                      node->link_gbps)
            : 0;
}

double hud_cost_limit_ns(const struct cost_limit *limit)
{
    return fmax(fmax(limit->latency_ns, limit->cores_ns), fmax(limit->memory_ns, limit->links_ns));
}

double hud_cost_gather_ns(const struct cost_node *node)
{
    double ns = 0;

    for (int l = 0; l < node->levels; l++)
        if (node->level[l].members > 1)
            ns += node->level[l].line_ns + (node->level[l].members - 2) * node->level[l].gap_ns;
    return ns;
}

double hud_cost_release_ns(const struct cost_node *node)
{
    double ns = 0;

    for (int l = 0; l < node->levels; l++)
        ns += node->level[l].members > 1 ? node->level[l].line_ns : 0;
    return ns;
}

double hud_cost_doubling_ns(const struct cost_node *node)
{
    double ns = 0, reached = 1, within = 1;

    for (int l = 0; l < node->levels; l++)
        for (within *= node->level[l].members; reached < within; reached *= 2)
            ns += node->level[l].line_ns;
    return ns;
}
