/* SPDX-License-Identifier: BSD-3-Clause */
/* place.h - the placement of a team's ranks: rank 0 writes it in its slice, all read it. */
#ifndef HUD_PLACE_H
#define HUD_PLACE_H

#include "core/team/setup.h"

static inline size_t place_bytes(int ranks)
{
    return sizeof(struct place_table) + SHAPE_LEVELS * (size_t)ranks * sizeof(int16_t);
}

/* Rank 0's view of the placement of all. */
void hud_place_write(struct hud_team *team, const union hello *hello, struct place_table *table);

/*
 * Copies rank 0's table, of place_bytes(ranks) bytes, with all values in their ranges, no matter
 * what is in shared memory.  An invalid table becomes one without levels, on all ranks alike.
 */
void hud_place_read(const struct place_table *table, int ranks, struct place_table *copy);

#endif
