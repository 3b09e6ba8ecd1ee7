/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * follow_root.h - a receiver of a broadcast whose size has another choice than the root's.
 *
 * In a wrong program a receiver may pass another size than the root, and so use another entry of
 * the plan.  If the entries have two slots, the receiver waits in a slot in which the root
 * announces nothing.  A long wait finds that.  The receiver then leaves the wait, and makes the
 * call in the root's slot, where it finds the truncation.
 *
 * Certain   Before this call the root and the receiver have made the same calls.  So the first
 *           call that only the root has counted is the counterpart of this call.  The counts of the
 *           slots have no common order, but a broadcast has the low bits of its number among the
 *           team's calls (member_shape_of_call).  The receiver follows if a single broadcast that
 *           only the root has counted has this call's root and number.
 * Harmless  A receiver that waits for the first announcement has written nothing to shared memory,
 *           except in algorithms with direct access.  A receiver never leaves those.  In a window
 *           that slots share, the receiver's call may have become the last user.  Then the next
 *           call only waits for the others to leave earlier calls (alg/window.c).
 * Not found If the root's next broadcast has the receiver's slot, and comes before the receiver has
 *           seen that its wait is long, the receiver takes it for the counterpart.  It may then be
 *           in the middle of that message, whose first fragments have been overwritten.  So it does
 *           not follow if a rank was the root of another broadcast with this number in the slot.  A
 *           root counts a broadcast before it announces data, so a receiver that has used up data
 *           sees the count.  A root that has made more than 3 further calls in a slot is not
 *           followed either, since the shapes of its earlier calls are gone.  The receiver's call,
 *           or its next one, then ends as a different call.
 * Others    The root, and receivers in the root's slot, leave it to this receiver to follow the
 *           root or to end the call (longwait.c).  They may be in later calls by then.
 */
#ifndef HUD_FOLLOW_ROOT_H
#define HUD_FOLLOW_ROOT_H

#include "core/watch/mismatch_report.h"

/* Statuses from here on, for hud_guard_leave: the call goes on with an entry of the plan, whose
 * index is added. */
enum { FOLLOW_ROOT = 1 << 8 };

/* Returns the index of an entry that serves the root's broadcast, if this rank waits in another
 * slot and can follow, or -1. */
int hud_follow_root_entry(const struct hud_team *team);

/* Returns whether another rank has begun a broadcast in another slot than its root, and will follow
 * the root.  This rank may be calls ahead.  The caller asks before and after other comparisons with
 * that rank, which may follow meanwhile. */
bool hud_follow_root_will(const struct hud_team *team, int rank);

/* Returns whether two ranks make a broadcast of the same root, and another rank decides how this
 * call ends.  rank: the other rank. */
bool hud_follow_root_is_left(const struct hud_team *team, int rank,
                             const struct mismatch_pair *calls);

#endif
