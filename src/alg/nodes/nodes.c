/* SPDX-License-Identifier: BSD-3-Clause */
/* nodes.c - the memory of the family. */
#include "alg/nodes/nodes.h"

const struct alg_family HUD_BACKEND(nodes_family) = { .fixed_bytes = sizeof(struct nodes_lines) };
