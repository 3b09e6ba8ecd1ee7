/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * differ.h - do two members of a team make different calls?  From what they count in shared memory,
 * while one of them waits and the other goes on.  True is certain; false may be a matter of time.
 */
#ifndef HUD_DIFFER_H
#define HUD_DIFFER_H

#include "core/team/member.h"

#include <stdbool.h>

/* All calls that a member has begun. */
uint64_t hud_differ_calls(const struct member_state *member);

/* `mine`, who waits, and `theirs` have not made the same calls, as far as the shorter list goes. */
bool hud_differ_in_calls(const struct member_state *mine, const struct member_state *theirs);

/* The other member's call of that slot with the number of the one in which `mine` waits has another
 * size. */
bool hud_differ_in_bytes(const struct member_state *mine, const struct member_state *theirs,
                         int slot);

#endif
