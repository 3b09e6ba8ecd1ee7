/* SPDX-License-Identifier: BSD-3-Clause */
/* nodes.c - the algorithms of spans, which are in no list of alg.def: a call on a span takes the
 * first of its collective that accepts it, or is the host's. */
#include "alg/nodes/nodes.h"

static const struct alg_param params[] = {
    [NODES_TREE] = { "tree", "", "of nodes", 0, SHAPE_KNOMIAL, SHAPE_KNOMIAL, hud_shape_names,
                     .per_call = true },
    [NODES_DEGREE] = { "degree", "1", "k of the tree", 1, 1 << 16, 2, NULL, .per_call = true },
    [NODES_FRAGMENT] = { "fragment", "B", "bytes of a message", 1, 1 << 24, NODES_BUFFER_BYTES,
                         NULL, .per_call = true },
    [NODES_BUFFER] = { "buffer", "B", "bytes of a buffer of the ring", HUD_LINE, 1 << 24,
                       NODES_BUFFER_BYTES, NULL },
    { .name = NULL },
};

static size_t window_bytes(const long *param, int ranks, size_t max_bytes)
{
    size_t bytes = nodes_window_bytes((size_t)param[NODES_BUFFER]);

    (void)ranks;
    return bytes <= max_bytes ? bytes : 0;
}

const struct alg_family HUD_BACKEND(nodes_family) = { .params = params,
                                                      .fixed_bytes = sizeof(struct nodes_lines),
                                                      .window_bytes = window_bytes };

extern const struct alg HUD_BACKEND(alg_barrier_nodes), HUD_BACKEND(alg_bcast_nodes),
    HUD_BACKEND(alg_allreduce_nodes), HUD_BACKEND(alg_allreduce_lanes),
    HUD_BACKEND(alg_reduce_scatter_lanes), HUD_BACKEND(alg_allgather_lanes),
    HUD_BACKEND(alg_allgatherv_lanes);

const struct alg *const HUD_BACKEND(nodes_algs)[NET_TAGS + 1] = {
    [NET_BARRIER] = &HUD_BACKEND(alg_barrier_nodes),
    [NET_BCAST] = &HUD_BACKEND(alg_bcast_nodes),
    [NET_ALLREDUCE] = &HUD_BACKEND(alg_allreduce_nodes),
    [NET_ALLREDUCE_LANES] = &HUD_BACKEND(alg_allreduce_lanes),
    [NET_REDUCE_SCATTER] = &HUD_BACKEND(alg_reduce_scatter_lanes),
    [NET_ALLGATHER] = &HUD_BACKEND(alg_allgather_lanes),
    [NET_ALLGATHERV] = &HUD_BACKEND(alg_allgatherv_lanes),
};
