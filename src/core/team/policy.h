/* SPDX-License-Identifier: BSD-3-Clause */
/* policy.h - how a team's ranks wait. */
#ifndef HUD_POLICY_H
#define HUD_POLICY_H

#include "core/team/setup.h"

/* Ranks would wait for a processor that another waiting rank holds, as far as this rank knows. */
bool hud_policy_oversubscribed(struct hud_team *team, const union hello *hello);

/* Fills team->policy.  Local; hello: what every rank of the team has said in the first round. */
void hud_policy_make(struct hud_team *team, const union hello *hello);

#endif
