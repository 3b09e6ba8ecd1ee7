/* SPDX-License-Identifier: BSD-3-Clause */
/* vacate.h - a slice is leased again only when every member has left its team.  See vacate.c. */
#ifndef HUD_VACATE_H
#define HUD_VACATE_H

#include "mem/mem.h"

/* The first line of every slice. */
struct slice_head {
    mem_flag left; /* members that have freed the team */
};

/* This rank will touch no slice of the team again.  Never waits. */
void HUD_BACKEND(vacate_leave)(struct mem *m);

/* All `ranks` members of the slice's team have left; m reaches at least this rank's slice, as slot
 * mem_rank(m). */
bool HUD_BACKEND(vacate_done)(struct mem *m, int ranks);

#endif
