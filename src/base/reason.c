/* SPDX-License-Identifier: BSD-3-Clause */
/* reason.c - texts of the reasons, and of what a user can do. */
#include "base/reason.h"

#define REASON_TEXT(name, text) [REASON_##name] = text,
const char *const hud_reason_text[REASON_COUNT] = { REASONS(REASON_TEXT) };

const char *const hud_nodes_remedy_off = "HUDDLE_NODES is off";
const char *const hud_nodes_remedy_on = "some of these ranks do not use huddle";
const char *const hud_nodes_remedy_auto =
    "some of these ranks do not use huddle, or the launcher does not tell, or the job has more "
    "than 512 ranks; HUDDLE_NODES=on has no limit, and assumes huddle if nobody tells";
