/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * team_leave.c - leaves a team: each member adds to a counter in every member's slice, and never
 * waits.
 *
 * Source    this project.
 * Cost      p line transfers per member, off every critical path
 *
 * Line             written by      read by          value means
 *   slice[r].left    every member    r, now and then   low MEMBER_BITS bits: so many members will
 *                                                      not touch slice r again; the bits above:
 *                                                      the sum of the lines of a slice that they
 *                                                      have used, modulo 2^40
 *
 * Edges     R1 -> A1   a member's last access to a slice  happens before  its owner zeroes and
 *                      leases it again
 *
 * Sum       In a correct program all members have made the same calls, and so have used as many
 *           lines.  In another one a member may have written to lines of which the owner has made
 *           no call.  Then the sum differs from what the owner expects.
 */
#include "core/slice/team_leave.h"

enum { MEMBER_BITS = 24 };

void HUD_BACKEND(team_leave)(struct mem *m, size_t used_bytes)
{
    uint64_t lines = mem_lines(used_bytes) / HUD_LINE;

    for (int i = 0; i < mem_size(m); i++) {
        struct slice_head *slice = mem_slot(m, (mem_rank(m) + i) % mem_size(m));
        mem_add(m, &slice->left, (lines << MEMBER_BITS) + 1); /* R1 */
    }
}

bool HUD_BACKEND(team_is_left)(struct mem *m, int ranks, size_t used_bytes, bool *alike)
{
    struct slice_head *mine = mem_slot(m, mem_rank(m));
    uint64_t left = mem_peek(m, &mine->left), /* A1 */
        lines = mem_lines(used_bytes) / HUD_LINE, all = (uint64_t)ranks;

    *alike = left == all * ((lines << MEMBER_BITS) + 1);
    return (left & ((UINT64_C(1) << MEMBER_BITS) - 1)) == all;
}
