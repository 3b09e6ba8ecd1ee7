/* SPDX-License-Identifier: BSD-3-Clause */
/* lanes.c - the memory of the family, whose windows have a size of the span's. */
#include "alg/lanes/lanes.h"

const struct alg_family HUD_BACKEND(lanes_family) = { .fixed_bytes = sizeof(struct lanes_lines) };
