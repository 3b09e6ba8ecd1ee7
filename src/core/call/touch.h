/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * touch.h - the first calls of a team's algorithm make the pages present that later calls use.
 *
 * A page that a process uses for the first time costs 2 to 4 us, in a call of a tenth of that.  In
 * rings one short message after the other would come to a new page, up to some hundred calls.  So
 * a few of the first calls take larger steps: what is used seldom stays untouched, and a set-up
 * that makes no call pays nothing.
 */
#ifndef HUD_CALL_TOUCH_H
#define HUD_CALL_TOUCH_H

#include "core/team/team.h"

enum { TOUCH_CALLS = 9 }; /* the last call with such a step */

/* Runs a call whose number in its slot is at most TOUCH_CALLS.  Returns as hud_guard_run. */
int hud_touch_and_run(const struct hud_team *team, struct mem *m, const struct coll *call);

#endif
