/* SPDX-License-Identifier: BSD-3-Clause */
/* baseline.c - the kernels for every processor of the architecture: SSE2 on x86-64, NEON on
 * aarch64. */
#define HUD_PATH hud_ops_baseline
#include "ops/kernels.h"
