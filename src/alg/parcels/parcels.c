/* SPDX-License-Identifier: BSD-3-Clause */
/* parcels.c - the memory of the family. */
#include "alg/parcels/parcels.h"

static size_t window_bytes(const long *param, int ranks, size_t max_bytes)
{
    (void)param, (void)ranks;
    return max_bytes < PARCELS_WINDOW_BYTES ? 0 : PARCELS_WINDOW_BYTES;
}

const struct alg_family HUD_BACKEND(parcels_family) = { .fixed_bytes = sizeof(struct parcels_lines),
                                                        .window_bytes = window_bytes };
