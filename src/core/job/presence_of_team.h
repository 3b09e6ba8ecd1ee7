/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * presence_of_team.h - do all members of a team use huddle?  Asked before its set-up, not by
 * message: members that the launcher counts but that use no huddle, or run elsewhere, would never
 * answer.
 */
#ifndef HUD_PRESENCE_OF_TEAM_H
#define HUD_PRESENCE_OF_TEAM_H

#include "core/job/context.h"

/* The members of a team, as this rank asks for them. */
struct presence_of_team {
    struct hud_context *context;
    const struct hud_exchange *exchange;
    int rank, ranks;
};

/* Returns whether all members use huddle on this node, or it cannot be known.  Local; the same on
 * every rank. */
bool hud_presence_is_full(const struct presence_of_team *members);

/* Prints a line about an absent member, by the first rank that is there, where all of the job's
 * ranks are on this node.  Elsewhere nobody asks for them all. */
void hud_presence_explain(const struct presence_of_team *members);

#endif
