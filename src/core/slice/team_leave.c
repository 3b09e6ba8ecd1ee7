/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * team_leave.c - leaves a team: each member adds one to a counter in every member's slice, and
 * never waits.
 *
 * Source    this project.
 * Cost      p line transfers per member, off every critical path
 *
 * Line             written by      read by          value k means
 *   slice[r].left    every member    r, now and then   k members will not touch slice r again
 *
 * Edges     R1 -> A1   a member's last access to a slice  happens before  its owner zeroes and
 *                      leases it again
 */
#include "core/slice/team_leave.h"

void HUD_BACKEND(team_leave)(struct mem *m)
{
    for (int i = 0; i < mem_size(m); i++) {
        struct slice_head *slice = mem_slot(m, (mem_rank(m) + i) % mem_size(m));
        mem_add(m, &slice->left, 1); /* R1 */
    }
}

bool HUD_BACKEND(team_is_left)(struct mem *m, int ranks)
{
    struct slice_head *mine = mem_slot(m, mem_rank(m));

    return mem_peek(m, &mine->left) == (uint64_t)ranks; /* A1 */
}
