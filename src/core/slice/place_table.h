/* SPDX-License-Identifier: BSD-3-Clause */
/* place_table.h - where the ranks of a team are, in rank 0's slice; and where a slice's first parts
 * begin. */
#ifndef HUD_PLACE_TABLE_H
#define HUD_PLACE_TABLE_H

#include "core/slice/member.h"
#include "core/slice/team_leave.h"
#include "topo/topo.h"

/* Rank 0's view of where the ranks are, for all. */
struct place_table {
    int32_t levels;
    int32_t oversubscribed; /* ranks outnumber the processors they may use */
    int32_t seen;           /* rank 0 knows the machine, or the places of these ranks on it */
    int64_t cache_bytes;    /* a rank's share of the largest cache that ranks share, 0: not known */
    struct topo_caches caches; /* the largest ones of the machine */
    char name[SHAPE_LEVELS][TOPO_NAME];
    int16_t unit[]; /* [level * ranks + rank]; the row behind the levels is of the caches */
};
enum { PLACE_LEVELS = SHAPE_LEVELS - 1 }; /* at most; a row is left for the caches */

static inline size_t place_bytes(int ranks)
{
    return sizeof(struct place_table) + SHAPE_LEVELS * (size_t)ranks * sizeof(int16_t);
}

enum {
    MEMBER_OFFSET = (sizeof(struct slice_head) + HUD_LINE - 1) / HUD_LINE * HUD_LINE,
    PLACE_OFFSET =
        (MEMBER_OFFSET + sizeof(struct member_state) + HUD_LINE - 1) / HUD_LINE * HUD_LINE
};
#endif
