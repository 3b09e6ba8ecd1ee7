/* SPDX-License-Identifier: BSD-3-Clause */
/* policy.h - how a team's ranks wait. */
#ifndef HUD_POLICY_H
#define HUD_POLICY_H

#include "core/team/setup.h"

/* Whether ranks would wait for a processor that another waiting rank uses, as far as this rank
 * knows. */
bool hud_policy_oversubscribed(struct hud_team *team, const union hello *hello);

/* Fills team->policy.  Local; hello: those of all ranks, from the first round. */
void hud_policy_make(struct hud_team *team, const union hello *hello);

/* Makes the handle of a team whose members' slices are known. */
void hud_policy_take(struct hud_team *team);

#endif
