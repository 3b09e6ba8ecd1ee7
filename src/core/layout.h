/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * layout.h - what a slice holds, in this order, the same in every member's slice:
 *
 *   slice_head | place_table (filled in rank 0's slice only) | region of each algorithm, in the order of alg.def
 */
#ifndef HUD_LAYOUT_H
#define HUD_LAYOUT_H

#include "core/config.h"
#include "core/vacate.h"
#include "topo/topo.h"

/* Rank 0's view of where the ranks are, for all. */
struct place_table {
    int32_t levels;
    char name[SHAPE_LEVELS][TOPO_NAME];
    int16_t unit[]; /* [level * ranks + rank] */
};

struct layout {
    size_t place_offset;
    size_t offset[SET_ALGS], bytes[SET_ALGS]; /* by row of alg.def; bytes 0: no room for that algorithm */
    size_t total_bytes;                       /* 0: nothing fits */
};

/* Lays out a slice of at most most_bytes; windows: with the algorithms that need one. */
void hud_layout_make(const struct config *config, int ranks, size_t most_bytes, bool windows, struct layout *layout);

/* Bytes to offer a new team of an arena that has free_bytes: a quarter, at most the setting; or control lines only; or 0. */
size_t hud_layout_offer(const struct config *config, int ranks, size_t free_bytes);

#endif
