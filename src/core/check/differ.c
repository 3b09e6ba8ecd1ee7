/* SPDX-License-Identifier: BSD-3-Clause */
/* differ.c - calls that differ, by two members' counts. */
#include "core/check/differ.h"

uint64_t hud_differ_calls(const struct member_state *member)
{
    uint64_t sum = 0;

    for (int s = 0; s < MEMBER_SLOTS; s++)
        sum += mem_count_observe(&member->calls[s]);
    return sum;
}

/*
 * A member that has made at least as many calls has not made fewer of any slot: its slots are read
 * after its sum, so that what is missing from one was not in a call that the sum counts.  And one
 * that has made at most as many has not made more of any: its sum is read after the slot, so that
 * it counts all that the slot does.
 */
bool hud_differ_in_calls(const struct member_state *mine, const struct member_state *theirs)
{
    uint64_t made = hud_differ_calls(mine);
    bool ahead = hud_differ_calls(theirs) >= made, other = false;

    for (int s = 0; s < MEMBER_SLOTS && !other; s++) {
        uint64_t own = mem_count_observe(&mine->calls[s]),
                 their = mem_count_observe(&theirs->calls[s]);
        other = (ahead && their < own) || (their > own && hud_differ_calls(theirs) <= made);
    }
    return other;
}

/*
 * Bytes are written before their call is counted.  So a member whose count is c may have written
 * those of c + 1, which lie where those of c + 1 - MEMBER_BYTES were.  Here it has counted at most
 * one call more than `call`, after the bytes were read, and MEMBER_BYTES is more than two.
 */
_Static_assert(MEMBER_BYTES > 2, "the bytes of a call outlive the next one");

bool hud_differ_in_bytes(const struct member_state *mine, const struct member_state *theirs,
                         int slot)
{
    uint64_t call = mem_count_observe(&mine->calls[slot]),
             made = mem_count_observe(&theirs->calls[slot]);
    int at = (int)(call % MEMBER_BYTES);
    bool other =
        mem_count_observe(&theirs->bytes[slot][at]) != mem_count_observe(&mine->bytes[slot][at]);

    return made >= call && other && mem_count_observe(&theirs->calls[slot]) <= call + 1;
}
