/* SPDX-License-Identifier: BSD-3-Clause */
/* avx512.c - the kernels for x86-64 with AVX-512 F, BW, DQ and VL. */
#if defined(__x86_64__)
#define HUD_PATH hud_ops_avx512
#include "ops/kernels.h"
#endif
