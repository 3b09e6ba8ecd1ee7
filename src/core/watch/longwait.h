/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * longwait.h - a wait inside a collective that lasts MEM_WATCH_NS or longer.  The rank publishes
 * what it waits for, and checks whether the wait can still end.  It cannot in these cases:
 *
 *   - The process of a member has ended.  One line names the rank.  Then HUDDLE_ON_DEATH decides:
 *     wait, abort, or let the call fail where the host asks for it.
 *   - Members make different calls.  One line names them, and the call fails.
 *   - A member has given up the team, for one of these reasons, or because its own arguments do not
 *     fit.  The call fails.
 *   - The host reports it, for example a revoked communicator.  The call fails.
 *
 * A call that fails leaves the algorithm through hud_guard_leave.  The member publishes that, so
 * that all others leave as well when they wait for it.  Its next calls fail until all members are
 * in the same call (realign.h).  Every later call on the team falls back to the host, on all
 * members.
 */
#ifndef HUD_LONGWAIT_H
#define HUD_LONGWAIT_H

#include "core/team/team.h"

/* Begins to watch a team that has been set up, and has its policy.  cards: cards of its
 * members.  offset: place of rank 0's slice in its arena. */
void hud_longwait_begin(struct hud_team *team, const struct peer_card *cards, uint64_t offset);

/* Observes a wait of the team, for mem_policy.watch.  Both functions may leave through the
 * guard: the first from a call, the second from the roll call before. */
void hud_longwait_watch(struct mem_wait *wait, bool over, void *team);
void hud_longwait_roll(struct mem_wait *wait, bool over, void *team);

/* Observes a wait between calls of the team.  Returns HUD_OK, or HUD_ERR_FAILED for a wait without
 * an end, by the host's report or after the end of a member's process.  over: the wait is over. */
int hud_longwait_look(struct hud_team *team, struct mem_wait *wait, bool over);

/* Ends this member's calls on the team for good, in a call that has begun: a slot counts the call.
 * Ranks waiting for this member leave with the status, which is returned; the others make no
 * further calls once they know. */
int hud_longwait_abandon(struct hud_team *team, int status);
/* Does the same before a call has begun, which counts the call. */
int hud_longwait_abandon_early(struct hud_team *team, int status);
/* Does the same between two calls, if another member has given up the team.  For a member that only
 * makes calls of the host, and so does not wait in huddle.  Does nothing with HUDDLE_CHECK, as roll
 * calls wait. */
void hud_longwait_join(struct hud_team *team);

/* Returns whether a member has given up the team. */
bool hud_longwait_is_given_up(const struct hud_team *team);

/* Writes the user's name of the communicator, for messages. */
void hud_longwait_name(const struct hud_team *team, char *name, size_t bytes);

/* Returns true for one caller among all members of the team. */
bool hud_longwait_claim_report(struct hud_team *team);

/* Returns the label of the edge of a wait at a place of the source, from the comment on its line
 * ("A1"), or "" if unknown.  Generated (edges.c). */
const char *hud_edge_label(const char *file, int line);

#endif
