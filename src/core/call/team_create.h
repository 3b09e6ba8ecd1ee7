/* SPDX-License-Identifier: BSD-3-Clause */
/* team_create.h - how a team ends: its owner may free a team with requests in flight. */
#ifndef HUD_TEAM_CREATE_H
#define HUD_TEAM_CREATE_H

#include "core/team/team.h"

/* Releases what a team owns, after the team was freed and its last request is over.  Called under
 * the lock of the queues. */
void hud_team_end(struct hud_team *team);
/* Frees the team itself, after its last request was freed. */
void hud_team_drop(struct hud_team *team);

/* Ends a team that was freed, after its last request is over: for call_queue.emptied. */
void hud_team_emptied(struct call_queue *queue);

#endif
