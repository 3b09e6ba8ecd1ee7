/* SPDX-License-Identifier: BSD-3-Clause */
/* setup.h - the two rounds of a team's set-up. */
#ifndef HUD_SETUP_H
#define HUD_SETUP_H

#include "core/team/team.h"

/*
 * Sets a team up.  Collective over the team.  On a fiber it does not wait; task is NULL
 * otherwise.  Leaves the team READY or REFUSED, or EARLY: to be called again at its next
 * collective; the same on every rank.
 */
void hud_setup_run(struct hud_team *team, struct fiber_task *task);

#endif
