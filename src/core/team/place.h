/* SPDX-License-Identifier: BSD-3-Clause */
/* place.h - the placement of a team's ranks: rank 0 writes it in its slice, all read it. */
#ifndef HUD_PLACE_H
#define HUD_PLACE_H

#include "core/team/setup.h"

static inline size_t place_bytes(int ranks)
{
    return sizeof(struct place_table) + SHAPE_LEVELS * (size_t)ranks * sizeof(int16_t);
}

/* What rank 0 knows of the placement of all. */
void hud_place_write(struct hud_team *team, const union hello *hello, struct place_table *table);

/*
 * Copies rank 0's table, of place_bytes(ranks) bytes, with all values in their ranges, no matter
 * what is in shared memory.  An invalid table becomes one without levels, on all ranks alike.
 */
void hud_place_read(const struct place_table *table, int ranks, struct place_table *copy);

/* Of memory for a table that can be kept. */
size_t hud_place_kept_bytes(int ranks);

/*
 * Keeps a table that hud_place_read has made, of hud_place_kept_bytes(ranks) bytes, unless it is
 * of a smaller team than the one that is kept, or rank 0 did not know.  *table is then the former
 * one, or NULL.  Under the context's lock, as hud_place_recall.
 */
void hud_place_keep(struct places *places, struct place_table **table, const union hello *hello,
                    int ranks);

/* These fill all of a table but `oversubscribed` and `intel`.  The places of ranks on a machine,
 * NULL: not known. */
void hud_place_see(const struct topo *machine, const char *off, const union hello *hello, int ranks,
                   struct place_table *table);
/* The same from the table that is kept.  False: it does not have the processors of all these
 * ranks, or memory has run out; nothing is written. */
bool hud_place_recall(const struct places *places, const union hello *hello, int ranks,
                      struct place_table *table);

#endif
