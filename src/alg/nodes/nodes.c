/* SPDX-License-Identifier: BSD-3-Clause */
/* nodes.c - the algorithms of spans, which are in no list of alg.def: a call on a span takes the
 * first of its collective that accepts it, or is the host's. */
#include "alg/nodes/nodes.h"

const struct alg_family HUD_BACKEND(nodes_family) = { .fixed_bytes = sizeof(struct nodes_lines) };

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
