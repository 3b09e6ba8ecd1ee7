/* SPDX-License-Identifier: BSD-3-Clause */
/* policy.h - how a team's ranks wait. */
#ifndef HUD_POLICY_H
#define HUD_POLICY_H

#include "core/team/hello.h"

/* Fills the team's policy, except for the observer of long waits (watch/longwait.h).  Communicates
 * with no other rank.  hello: the hellos of all ranks, from the first round. */
void hud_policy_make(struct hud_team *team, const union hello *hello);

/* Makes the handle of a team whose members' slices are known. */
void hud_policy_take(struct hud_team *team);

#endif
