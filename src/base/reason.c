/* SPDX-License-Identifier: BSD-3-Clause */
/* reason.c - texts of the reasons. */
#include "base/reason.h"

#define REASON_TEXT(name, text) [REASON_##name] = text,
const char *const hud_reason_text[REASON_COUNT] = { REASONS(REASON_TEXT) };
