/* SPDX-License-Identifier: BSD-3-Clause */
/* end_early.c - ends a call that has left its algorithm before its end. */
#include "core/call/carry_out.h"
#include "core/watch/follow_root.h"
#include "core/watch/longwait.h"

/* Makes the call in the root's slot.  Takes back its count in the slot in which this rank has
 * waited: members that compare calls meanwhile are warned by an odd number (member.h). */
static int follow(struct hud_team *team, const struct plan_entry *entry, struct coll *call,
                  uint64_t shape, bool *truncated)
{
    struct member_state *mine = team->shm.mine;
    mem_counter *calls = &mine->calls[team->plan.entry->slot];

    mem_count_step(&mine->follows);
    mem_count_put(calls, mem_count_read(calls) - 1);
    int status = carry_out(team, entry, call, shape, truncated);
    mem_count_step(&mine->follows);
    return status;
}

int hud_end_early(struct hud_team *team, struct coll *call, uint64_t shape, int status)
{
    bool truncated = false;

    if (status >= FOLLOW_ROOT)
        status =
            follow(team, &team->plan.shared->entry[status - FOLLOW_ROOT], call, shape, &truncated);
    return status != 0 ? hud_longwait_abandon(team, status) : truncated ? HUD_ERR_TRUNCATE : HUD_OK;
}
