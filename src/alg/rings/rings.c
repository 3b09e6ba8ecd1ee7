/* SPDX-License-Identifier: BSD-3-Clause */
/* rings.c - the parameters and the memory of the family. */
#include "alg/rings/rings.h"

static const struct alg_param params[] = {
    [RINGS_SET] = { "set", "B", "bytes of a set of cells", HUD_LINE, 1 << 24, RINGS_SET_BYTES,
                    NULL },
    [RINGS_COUNT] = { "rings", "1", "maximum ranks of a node that exchange at the same time", 1,
                      1024, 1, NULL, .per_call = true },
    [RINGS_PIECE] = { "piece", "B",
                      "maximum bytes of a message of one ring in a reduce; 0: as many as fit", 0,
                      1 << 24, 0, NULL, .per_call = true },
    { .name = NULL },
};

static size_t window_bytes(const long *param, int ranks, size_t max_bytes)
{
    size_t bytes = RINGS_SETS * (size_t)param[RINGS_SET];

    (void)ranks;
    return bytes <= max_bytes ? bytes : 0;
}

const struct alg_family HUD_BACKEND(rings_family) = { .params = params,
                                                      .fixed_bytes = sizeof(struct rings_lines),
                                                      .window_bytes = window_bytes };
