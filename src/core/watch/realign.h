/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * realign.h - the calls of a team that has been given up, until all members are in the same call.
 *
 * A call that cannot end fails on the ranks that wait in it (longwait.h).  Other ranks may have
 * left the same call, and be calls ahead.  If the ranks with an error went on with the host, they
 * would wait there in calls that the others have made in huddle.
 *
 * Counts    A member publishes how many of the program's calls it has made in huddle, or failed,
 *           and how many it has left to the host.  For each of the latest calls that it has left to
 *           the host, it publishes how many calls in huddle came before, the *place* of the call
 *           (core/slice/member.h).  So the order of its calls is known.
 * Rules     Before its next call, a member that has given up compares these counts.
 *           1. Another member has made this call in huddle: it fails.
 *           2. Another member has left this call to the host: it falls back.
 *           3. All members have given up, and none has made this call: it falls back, and so do all
 *              later calls.
 *           4. Otherwise the member waits.
 * Agreement Members may agree on times or sizes before a call, in an allreduce of huddle's own
 *           (core/call/learn.h).  A member that learns there that the team has been given up does
 *           not know whether others are past the allreduce, and have left the call to the host.  So
 *           the rules decide about this same call.
 * Fixed     A call that all members leave to the host, whatever they have learned, falls back
 *           without a comparison, and is counted.  A team that does not learn leaves no other calls
 *           to the host, and publishes no places.
 * Joins     A member that has not given up learns in its next wait in huddle, or at its next call
 *           that it leaves to the host, that another member has given up.  It then gives up, too.
 *           With HUDDLE_CHECK it learns in its next roll call, which precedes calls to the host.
 * Left      A member that has freed the team counts as one that has given up.
 *
 * Proof that no member waits for ever
 *   A member waits only for members that have not given up, and have not begun the call.  All ranks
 *   make the same number of calls, so such a member begins the call, or waits in huddle before.
 *   There it finds that the team has been given up (longwait.h).
 * Proof that no member is alone in the host
 *   Let a member enter the host in call n by rule 3.  All members have given up, and none has made
 *   call n.  So no member makes another call in huddle.  Each one that is behind fails its calls up
 *   to n - 1 by rule 1, and falls back in call n by rule 2 or 3.
 *   By rule 2 a member enters the host in a call that another member makes there.
 * Limits    The places of the latest MEMBER_BEFORE - 1 calls to the host are known.  A member that
 *           is further behind, and may have missed calls in huddle as well, assumes that the next
 *           call was one of these.  If not, another member may be left alone in the host.
 *           A member may fail a call, for example out of memory, while another one is in the host
 *           for the same call.  From then on the host would pair different calls.  So that member
 *           fails all later calls that its settings do not leave to the host, and the other one may
 *           wait in the host for ever.
 */
#ifndef HUD_REALIGN_H
#define HUD_REALIGN_H

#include "core/team/team.h"

/* Publishes a call that this member leaves to the host, and then joins.  shape: member_shape(). */
void hud_realign_publish(struct hud_team *team, uint64_t shape);

/* Decides about the next call of an ENDING team, and may wait.  Returns HUD_PASS if the call falls
 * back, HUD_ERR_UNLIKE if the call fails, or HUD_ERR_FAILED (hud_longwait_look). */
int hud_realign(struct hud_team *team);

#endif
