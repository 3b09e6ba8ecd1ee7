/* SPDX-License-Identifier: BSD-3-Clause */
/* deaths.h - members of a team whose processes have ended. */
#ifndef HUD_DEATHS_H
#define HUD_DEATHS_H

#include "core/team/team.h"

static inline struct arena_head *deaths_head(const struct hud_team *team, int rank)
{
    return (struct arena_head *)((uintptr_t)team->shm.slices[rank] & team->shm.mem.home_mask);
}

/* Finds members whose processes have ended without leaving the team, and reports them.  May end the
 * job (HUDDLE_ON_DEATH).  Reads whether a member has left after its end.  An observation asks about
 * some members, in turn: a question takes tens of microseconds, and may take them from a rank that
 * works. */
bool hud_deaths_find(struct hud_team *team, const struct mem_wait *wait,
                     const struct wait_note *mine);

/* Ends the job by the host's function, or this process if the host has none.  Does not return. */
void hud_deaths_end_job(struct hud_team *team);

/* Returns whether a member's process has ended. */
bool hud_deaths_has_ended(void *team, int rank);

#endif
