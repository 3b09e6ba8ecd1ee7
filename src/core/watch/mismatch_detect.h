/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mismatch_detect.h - finds out whether two members of a team make different calls, from their
 * counters in shared memory, while one member waits.  The answer true is certain.  The answer false
 * may become true later.
 */
#ifndef HUD_MISMATCH_DETECT_H
#define HUD_MISMATCH_DETECT_H

#include "core/slice/member.h"

#include <stdbool.h>

/* Returns whether a member's counts have only grown since its `follows` was read. */
bool hud_mismatch_only_grown(const struct member_state *member, uint64_t follows);

/* Counts all calls that a member has begun. */
uint64_t hud_mismatch_count_calls(const struct member_state *member);

/* Returns whether `mine`, which waits, and `theirs` have made different calls, as far as the
 * shorter list goes. */
bool hud_mismatch_in_calls(const struct member_state *mine, const struct member_state *theirs);

/* Finds a call that `theirs` has made and `mine` has not.  Returns its slot, or -1 if no longer
 * known.  kind: a call of this collective is preferred, as the more likely counterpart. */
int hud_mismatch_find_call(const struct member_state *mine, const struct member_state *theirs,
                           int kind, uint64_t *shape);

/* Returns the slot in which the root of a broadcast has made the call in which `mine` waits in
 * `slot`.  Returns -1 if no other slot is known to be the one. */
int hud_mismatch_find_broadcast(const struct member_state *mine, const struct member_state *theirs,
                                int slot);

/* Returns whether the other member, whose rank is given, was the root of another broadcast with the
 * number, in its slot, of the broadcast in which `mine` waits.  Returns true if that is no longer
 * known. */
bool hud_mismatch_has_sent_another(const struct member_state *mine,
                                   const struct member_state *theirs, int rank, int slot);

/* Returns whether the other member's call of the slot, with the number of the call in which
 * `mine` waits, has another shape, and stores the shape.  sized: another size counts, too. */
bool hud_mismatch_in_shape(const struct member_state *mine, const struct member_state *theirs,
                           int slot, bool sized, uint64_t *shape);

#endif
