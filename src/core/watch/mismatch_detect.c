/* SPDX-License-Identifier: BSD-3-Clause */
/* mismatch_detect.c - calls that differ, by two members' counts. */
#include "core/watch/mismatch_detect.h"

bool hud_mismatch_only_grown(const struct member_state *member, uint64_t follows)
{
    return follows % 2 == 0 && mem_count_observe(&member->follows) == follows;
}

uint64_t hud_mismatch_count_calls(const struct member_state *member)
{
    uint64_t sum = 0;

    for (int s = 0; s < MEMBER_SLOTS; s++)
        sum += mem_count_observe(&member->calls[s]);
    return sum;
}

/* Compares two members whose counts only grow (hud_mismatch_only_grown). A member with at least as
 * many calls has not made fewer of any slot: its slots are read after its sum, so a call missing
 * from a slot is not in the sum. A member with at most as many calls has not made more of any
 * slot: its sum is read after the slot, so the sum counts all calls of the slot. */
bool hud_mismatch_in_calls(const struct member_state *mine, const struct member_state *theirs)
{
    uint64_t made = hud_mismatch_count_calls(mine);
    bool ahead = hud_mismatch_count_calls(theirs) >= made, other = false;

    for (int s = 0; s < MEMBER_SLOTS && !other; s++) {
        uint64_t own = mem_count_observe(&mine->calls[s]),
                 their = mem_count_observe(&theirs->calls[s]);
        other = (ahead && their < own) || (their > own && hud_mismatch_count_calls(theirs) <= made);
    }
    return other;
}

/* Reads a call of the slot, if the other member has made the call.  Its shape is kept as long as
 * the member has counted at most MEMBER_SHAPES - 2 further calls of the slot, after the shape was
 * read. */
static bool read_call(const struct member_state *theirs, int slot, uint64_t call, uint64_t *shape)
{
    if (mem_count_observe(&theirs->calls[slot]) < call)
        return false;
    *shape = mem_count_observe(&theirs->shape[slot][call % MEMBER_SHAPES]);
    return mem_count_observe(&theirs->calls[slot]) <= call + MEMBER_SHAPES - 2;
}

int hud_mismatch_find_call(const struct member_state *mine, const struct member_state *theirs,
                           int kind, uint64_t *shape)
{
    int found = -1;
    uint64_t further;

    for (int s = 0; s < MEMBER_SLOTS; s++) {
        if (!read_call(theirs, s, mem_count_observe(&mine->calls[s]) + 1, &further))
            continue;
        bool alike = member_shape_kind(further) == kind;
        if (found < 0 || alike) {
            found = s;
            *shape = further;
        }
        if (alike)
            break;
    }
    return found;
}

int hud_mismatch_find_broadcast(const struct member_state *mine, const struct member_state *theirs,
                                int slot)
{
    uint64_t made = hud_mismatch_count_calls(theirs), call = mem_count_observe(&mine->calls[slot]),
             own = mem_count_observe(&mine->shape[slot][call % MEMBER_SHAPES]), shape;
    bool known = true;
    int found = -1;

    for (int s = 0; s < MEMBER_SLOTS && known; s++) {
        uint64_t before = mem_count_observe(&mine->calls[s]) - (s == slot);
        if (mem_count_observe(&theirs->calls[s]) == before)
            continue;
        known = read_call(theirs, s, before + 1, &shape);
        if (s == MEMBER_FELL_BACK)
            known = known && member_shape_kind(shape) != member_shape_kind(own);
        if (!known || ((shape ^ own) & ~MEMBER_SIZES) != 0)
            continue;
        known = found < 0;
        found = s;
    }
    /* if the counts are not the same as before, the root has made a call meanwhile */
    return known && found != slot && made == hud_mismatch_count_calls(theirs) ? found : -1;
}

bool hud_mismatch_has_sent_another(const struct member_state *mine,
                                   const struct member_state *theirs, int rank, int slot)
{
    uint64_t call = mem_count_observe(&mine->calls[slot]),
             own = mem_count_observe(&mine->shape[slot][call % MEMBER_SHAPES]), shape;

    if (mem_count_observe(&theirs->calls[slot]) < call)
        return false;
    return !read_call(theirs, slot, call, &shape) ||
           (((shape ^ own) & ~MEMBER_SIZES) != 0 && member_shape_root(shape) == rank);
}

/*
 * A member writes the shape of a call before it counts the call.  So a member whose count is c may
 * have written the shape of call c + 1 already, over the shape of call c + 1 - MEMBER_SHAPES.
 * hud_mismatch_in_shape reads the count after the shape.  If the count is at most `call` + 1, the
 * member has written at most the shape of `call` + 2.  MEMBER_SHAPES is more than two, so the
 * shape of `call` was still intact when it was read.
 */
_Static_assert(MEMBER_SHAPES > 2, "the shape of a call outlives the next one");

bool hud_mismatch_in_shape(const struct member_state *mine, const struct member_state *theirs,
                           int slot, bool sized, uint64_t *shape)
{
    uint64_t call = mem_count_observe(&mine->calls[slot]),
             made = mem_count_observe(&theirs->calls[slot]);
    int at = (int)(call % MEMBER_SHAPES);

    *shape = mem_count_observe(&theirs->shape[slot][at]);
    uint64_t differs = (*shape ^ mem_count_observe(&mine->shape[slot][at])) & ~MEMBER_CALLS;
    bool other = (sized ? differs : differs & ~MEMBER_SIZES) != 0;
    return made >= call && other && mem_count_observe(&theirs->calls[slot]) <= call + 1;
}
