/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * team_leave.c - leaves a team: each member adds to a counter in every member's slice, and never
 * waits.
 *
 * Source    this project.
 * Cost      p line transfers per member, off every critical path
 *
 * Line             written by      read by          value means
 *   slice[r].left    every member    r, now and then   the low MEMBER_BITS bits count the members
 *                                                      that will not touch slice r again; the bits
 *                                                      above: the sum of hashes of the numbers of
 *                                                      lines that they have used, modulo 2^40
 *
 * Edges     R1 -> A1   a member's last access to a slice  happens before  its owner zeroes and
 *                      leases it again
 *
 * Sum       In a correct program all p members have made the same calls, and so have used the same
 *           number of lines.  In another one a member may have written to lines of which the owner
 *           has made no call.  Then the sum differs from what the owner expects, but for a
 *           probability below p / 2^39: let n < p members have used v lines, and the owner another
 *           number.  Whatever the other hashes are, at most n of the 2^39 hashes of v give the
 *           expected sum.  A sum of the numbers themselves is no proof: more and fewer lines
 *           cancel out.
 *           With fewer than 2^MEMBER_BITS members the count has no carry into the sum, and the sum
 *           is shifted, so it has none into the count.
 */
#include "core/slice/team_leave.h"
#include "base/hash.h"

enum { MEMBER_BITS = 24 };

/* Returns a member's addend to a slice's flag.  The hash mixes all bits: with a linear one more and
 * fewer lines would cancel out again. */
static uint64_t one_member(size_t used_bytes)
{
    uint64_t h = hash_mix(mem_lines(used_bytes) / HUD_LINE + HASH_STEP);

    return (h >> (MEMBER_BITS + 1) << MEMBER_BITS) + 1; /* a flag grows by less than 2^63 */
}

void HUD_BACKEND(team_leave)(struct mem *m, size_t used_bytes)
{
    uint64_t add = one_member(used_bytes);

    for (int i = 0; i < mem_size(m); i++) {
        struct slice_head *slice = mem_slot(m, (mem_rank(m) + i) % mem_size(m));
        mem_add(m, &slice->left, add); /* R1 */
    }
}

bool HUD_BACKEND(team_is_left)(struct mem *m, int ranks, size_t used_bytes, bool *alike)
{
    struct slice_head *mine = mem_slot(m, mem_rank(m));
    uint64_t left = mem_peek(m, &mine->left), all = (uint64_t)ranks; /* A1 */

    *alike = left == all * one_member(used_bytes);
    return (left & ((UINT64_C(1) << MEMBER_BITS) - 1)) == all;
}
