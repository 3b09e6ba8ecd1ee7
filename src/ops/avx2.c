/* SPDX-License-Identifier: BSD-3-Clause */
/* avx2.c - the kernels for x86-64 with AVX2. */
#if defined(__x86_64__)
#define HUD_PATH hud_ops_avx2
#include "ops/kernels.h"
#endif
