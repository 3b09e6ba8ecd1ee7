/* SPDX-License-Identifier: BSD-3-Clause */
/* slices.c - the parameters and the memory of the family. */
#include "alg/slices/slices.h"

static const struct alg_param params[] = {
    [SLICES_FRAGMENT] = { "fragment", "B",
                          "bytes of a piece of a slice; 0: as much as the window holds", 0, 1 << 24,
                          0, NULL, .per_call = true, .tune = "4K,8K,16K,32K" },
    [SLICES_BUDGET] = { "budget", "B",
                        "bytes of the window, which holds two fragments; 0: as much as the lease "
                        "allows",
                        0, 1 << 24, 252 << 10, NULL },
    { .name = NULL },
};

static size_t window_bytes(const long *param, int ranks, size_t max_bytes)
{
    (void)ranks;
    return cut_window_bytes(SLICES_SETS, param[SLICES_BUDGET], max_bytes);
}

const struct alg_family HUD_BACKEND(slices_family) = {
    .params = params,
    .fixed_bytes = sizeof(struct slices_slot),
    .window_bytes = window_bytes,
};
