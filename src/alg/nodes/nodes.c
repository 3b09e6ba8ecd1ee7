/* SPDX-License-Identifier: BSD-3-Clause */
/* nodes.c - the parameters and the memory of the family. */
#include "alg/nodes/nodes.h"

static const struct alg_param params[] = {
    [NODES_TREE] = { "tree", "", "tree of nodes", 0, SHAPE_KNOMIAL, SHAPE_KNOMIAL, hud_shape_names,
                     .per_call = true },
    [NODES_DEGREE] = { "degree", "1", "k, children of a node in the tree", 1, 1 << 16, 2, NULL,
                       .per_call = true },
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
