/* SPDX-License-Identifier: BSD-3-Clause */
/* end_early.c - ends a call that has left its algorithm before its end. */
#include "core/call/carry_out.h"
#include "core/watch/follow_root.h"
#include "core/watch/longwait.h"

/* Takes back the count of the call in the slot in which this rank has waited. */
static void take_back(struct hud_team *team)
{
    mem_counter *calls = &team->shm.mine->calls[team->plan.entry->slot];

    mem_count_put(calls, mem_count_read(calls) - 1);
}

int hud_end_early(struct hud_team *team, struct coll *call, uint64_t shape, int status)
{
    bool truncated = false;

    if (status >= FOLLOW_ROOT) {
        take_back(team);
        status = carry_out(team, &team->plan.shared->entry[status - FOLLOW_ROOT], call, shape,
                           &truncated);
    }
    return status != 0 ? hud_longwait_abandon(team, status) : truncated ? HUD_ERR_TRUNCATE : HUD_OK;
}
