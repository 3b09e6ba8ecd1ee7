/* SPDX-License-Identifier: BSD-3-Clause */
/* lanes.c - the parameters and the memory of the family. */
#include "alg/lanes/lanes.h"

static const struct alg_param params[] = {
    [LANES_SET] = { "set", "B", "of a set of cells", HUD_LINE, 1 << 24, LANES_SET_BYTES, NULL },
    [LANES_COUNT] = { "lanes", "1", "ranks of a node that exchange at a time, at most", 1, 1024, 1,
                      NULL, .per_call = true },
    { .name = NULL },
};

static size_t window_bytes(const long *param, int ranks, size_t max_bytes)
{
    size_t bytes = LANES_SETS * (size_t)param[LANES_SET];

    (void)ranks;
    return bytes <= max_bytes ? bytes : 0;
}

const struct alg_family HUD_BACKEND(lanes_family) = { .params = params,
                                                      .fixed_bytes = sizeof(struct lanes_lines),
                                                      .window_bytes = window_bytes };
