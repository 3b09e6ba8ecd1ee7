/* SPDX-License-Identifier: BSD-3-Clause */
/* team_leave.h - a slice is leased again only when every member has left its team.  See
 * team_leave.c. */
#ifndef HUD_TEAM_LEAVE_H
#define HUD_TEAM_LEAVE_H

#include "mem/mem.h"

/* Changes with the meaning of slice_head.left, so that builds in which it differs do not share a
 * team. */
enum { SLICE_HEAD_MEANING = 2 };

/* The first line of every slice. */
struct slice_head {
    mem_flag left; /* members that have freed the team, and what they have used */
};

/* Publishes that this rank will touch no slice of the team again, and how many bytes from the start
 * of a slice its calls have used.  Never waits. */
void HUD_BACKEND(team_leave)(struct mem *m, size_t used_bytes);

/* Returns whether all `ranks` members of the slice's team have left.  m reaches at least this
 * rank's slice, as slot mem_rank(m).  *alike: all have used the same number of lines as this
 * rank (team_leave.c, Sum). */
bool HUD_BACKEND(team_is_left)(struct mem *m, int ranks, size_t used_bytes, bool *alike);

#endif
