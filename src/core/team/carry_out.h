/* SPDX-License-Identifier: BSD-3-Clause */
/* carry_out.h - runs the algorithm of an entry of a team's plan. */
#ifndef HUD_CARRY_OUT_H
#define HUD_CARRY_OUT_H

#include "core/team/guard.h"
#include "core/team/touch.h"

/*
 * All ranks make this call alike; its arguments are there, the rest of it is not.  shape: the same
 * on all of them, published for ranks that wait long.  Returns 0, or the status with which the call
 * ended early: the team must be given up.
 */
static inline __attribute__((always_inline)) int carry_out(struct hud_team *team,
                                                           const struct plan_entry *entry,
                                                           struct coll *call, uint64_t shape,
                                                           bool *truncated)
{
    const struct alg_place *place = &team->plan->slot[entry->slot].place;
    struct member_state *mine = team->mine;
    uint64_t op = mem_count_read(&mine->calls[entry->slot]) + 1;
    member_count(mine, entry->slot, op, shape);
    call->op = op;
    call->groups = &team->groups;
    call->param = entry->param;
    call->place = place;
    call->cache_bytes = team->cache_bytes;
    team->entry = entry;
    team->call = call;
    struct mem mem = team->mem;
    mem.slot_offset = place->slot_offset;
    mem.window_offset = place->window_offset;
    mem.bytes = call->bytes > team->last_bytes ? call->bytes : team->last_bytes;
    team->last_bytes = call->bytes;
    call->alg = hud_shm_algs[entry->row];
    int status = __builtin_expect(op <= TOUCH_CALLS, 0)
                     ? hud_touch_and_run(team, &mem, call)
                     : hud_guard_run(alg_run_of(call->alg, place), &mem, call);
    *truncated = mem.truncated;
    return status;
}

#endif
