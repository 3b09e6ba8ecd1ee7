/* SPDX-License-Identifier: BSD-3-Clause */
/* carry_out.h - runs the algorithm of an entry of a team's plan, and reads whether a message was
 * truncated. */
#ifndef HUD_CARRY_OUT_H
#define HUD_CARRY_OUT_H

#include "core/call/touch.h"
#include "core/watch/guard.h"

/* Runs a call that all ranks make alike.  Of the call only its arguments are set.  shape: the
 * same on all ranks, published for ranks in long waits.  Returns 0, or the status with which the
 * call ended early: then the team must be given up. */
static inline __attribute__((always_inline)) int carry_out(struct hud_team *team,
                                                           const struct plan_entry *entry,
                                                           struct coll *call, uint64_t shape,
                                                           bool *truncated)
{
    const struct alg_place *place = &team->plan.shared->slot[entry->slot].place;
    struct member_state *mine = team->shm.mine;
    uint64_t op = mem_count_read(&mine->calls[entry->slot]) + 1;
    member_count(mine, entry->slot, op, shape);
    call->op = op;
    call->groups = &team->places.groups;
    call->param = entry->param;
    call->place = place;
    call->cache_bytes = team->plan.cache_bytes;
    team->plan.entry = entry;
    team->plan.call = call;
    struct mem mem = team->shm.mem;
    mem.slot_offset = place->slot_offset;
    mem.window_offset = place->window_offset;
    mem.cell = (unsigned)entry->slot;
    mem.bytes = call->bytes > team->shm.last_bytes ? call->bytes : team->shm.last_bytes;
    team->shm.last_bytes = call->bytes;
    call->alg = hud_shm_algs[entry->row];
    int status = __builtin_expect(op <= TOUCH_CALLS, 0)
                     ? hud_touch_and_run(team, &mem, call)
                     : hud_guard_run(alg_run_of(call->alg, place), &mem, call);
    *truncated = mem.truncated;
    return status;
}

/* Ends a call that has left its algorithm with a status.  A receiver of a broadcast may go on in
 * the root's slot (core/watch/follow_root.h).  Otherwise the team is given up.  Returns the status
 * of the call. */
int hud_end_early(struct hud_team *team, struct coll *call, uint64_t shape, int status);

#endif
