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
 * that all others leave as well when they wait for it.  Every later call on the team falls back to
 * the host, on all members.
 */
#ifndef HUD_LONGWAIT_H
#define HUD_LONGWAIT_H

#include "core/team/team.h"

/* The team has been set up.  cards: of its members; offset: of rank 0's slice in its arena. */
void hud_longwait_begin(struct hud_team *team, const struct peer_card *cards, uint64_t offset);

/* For mem_policy.watch; arg: the team.  Both may leave through the guard: the first from a call,
 * the second from the roll call before it. */
void hud_longwait_watch(struct mem_wait *wait, bool over, void *team);
void hud_longwait_roll(struct mem_wait *wait, bool over, void *team);

/* This member makes no further calls on the team: those that wait for it leave with the status. */
void hud_longwait_give_up(struct hud_team *team, int status);

/* This member leaves the team: from now on its process may end. */
void hud_longwait_leave(struct hud_team *team);

/* The user's name of the communicator, for messages. */
void hud_longwait_name(const struct hud_team *team, char *name, size_t bytes);

/* True for one caller among all members of the team. */
bool hud_longwait_says(struct hud_team *team);

/* The label of the edge of a wait at that place of the source, from the comment on its line ("A1");
 * "": unknown.  Generated (edges.c). */
const char *hud_edge_label(const char *file, int line);

#endif
