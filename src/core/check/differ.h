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

/* `mine`, which waits, and `theirs` have not made the same calls, as far as the shorter list
 * goes. */
bool hud_differ_in_calls(const struct member_state *mine, const struct member_state *theirs);

/*
 * Then: a call that `theirs` has made and `mine` has not.  Returns its slot, or -1: it is not known
 * any more.  kind: a call of that collective is preferred, as it is the more likely counterpart.
 */
int hud_differ_call(const struct member_state *mine, const struct member_state *theirs, int kind,
                    uint64_t *shape);

/* The other member's call of that slot with the number of the one in which `mine` waits has another
 * shape, which is that one.  sized: another size counts, too. */
bool hud_differ_in_shape(const struct member_state *mine, const struct member_state *theirs,
                         int slot, bool sized, uint64_t *shape);

#endif
