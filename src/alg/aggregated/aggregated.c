/* SPDX-License-Identifier: BSD-3-Clause */
/* aggregated.c - the memory of the family. */
#include "alg/aggregated/aggregated.h"

static size_t window_bytes(const long *param, int ranks, size_t max_bytes)
{
    (void)param, (void)ranks;
    return max_bytes < AGGREGATED_WINDOW_BYTES ? 0 : AGGREGATED_WINDOW_BYTES;
}

const struct alg_family HUD_BACKEND(aggregated_family) = {
    .fixed_bytes = sizeof(struct aggregated_lines), .window_bytes = window_bytes
};
