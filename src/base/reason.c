/* SPDX-License-Identifier: BSD-3-Clause */
/* reason.c - texts of the reasons, and of what a user can do. */
#include "base/reason.h"

#define REASON_TEXT(name, text) [REASON_##name] = text,
const char *const hud_reason_text[REASON_COUNT] = { REASONS(REASON_TEXT) };

const char *const hud_nodes_remedy_off = "set HUDDLE_NODES=auto";
const char *const hud_nodes_remedy_on =
    "not all of these ranks are known to use huddle; HUDDLE_NODES=on assumes that they do";
