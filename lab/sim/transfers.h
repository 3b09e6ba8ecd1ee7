/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * transfers.h - lines for which no rank waits and that cross links (links.h) at their own time:
 * stores, prefetches for ownership, and the fetches of polling ranks.
 *
 * Such a line may begin its way in the future.  It then crosses when that time has come, since it
 * must not delay any line that crosses before.  Its delay also delays all uses that depend on it
 * (lines.h).
 */
#ifndef HUD_SIM_TRANSFERS_H
#define HUD_SIM_TRANSFERS_H

#include "lab/sim/lines.h"
#include "lab/sim/links.h"

struct sim_transfers;

/* Creates an empty set of transfers.  `lines` and `links` must outlive the result. */
struct sim_transfers *hud_transfers_create(struct sim_lines *lines, struct sim_links *links);
/* Frees the set, which may be NULL. */
void hud_transfers_free(struct sim_transfers *all);

/* Lets a core's use of a line cross links and ask the line's home, now.  Returns the delay in ns,
 * or a negative number like hud_links_cross. */
double hud_transfers_delay(struct sim_links *links, int core, const struct sim_fetch *f,
                           double now_ns);
/* Adds a core's use of a line, which crosses when the use begins, and not before now_ns. */
void hud_transfers_add(struct sim_transfers *all, struct sim_line *line, int core,
                       const struct sim_fetch *f, double now_ns);
/* Lets all lines cross that are due by now.  Calls must be in the order of their times, together
 * with calls of hud_links_cross. */
void hud_transfers_until(struct sim_transfers *all, double now_ns);

#endif
