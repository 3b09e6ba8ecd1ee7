/* SPDX-License-Identifier: BSD-3-Clause */
/* compiled.c - no compiled table: rules.c reads the text. */
#include "core/plan/compiled.h"

const struct compiled hud_compiled = { .rule = NULL };
