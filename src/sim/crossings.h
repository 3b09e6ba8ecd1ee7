/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * crossings.h - lines for which no rank waits, and that cross links (links.h) at their own time:
 * stores, prefetches for ownership, and the fetches of polling ranks.
 *
 * Such a line may begin its way in the future.  It then crosses when that time has come, since it
 * must not delay any line that crosses before.  A delay of it delays all uses that depend on it
 * (lines.h).
 */
#ifndef HUD_SIM_CROSSINGS_H
#define HUD_SIM_CROSSINGS_H

#include "sim/lines.h"
#include "sim/links.h"

struct sim_crossings;

/* Lines and links must live as long. */
struct sim_crossings *hud_crossings_create(struct sim_lines *lines, struct sim_links *links);
void hud_crossings_free(struct sim_crossings *all); /* NULL is allowed */

/* A core's use of a line crosses links, and asks the line's home, now: how much later it ends
 * (hud_links_cross). */
double hud_crossings_delay(struct sim_links *links, int core, const struct sim_fetch *f,
                           double now_ns);
/* A core's use of a line, which crosses when it begins, at the earliest now. */
void hud_crossings_add(struct sim_crossings *all, struct sim_line *line, int core,
                       const struct sim_fetch *f, double now_ns);
/* Lets all lines cross whose time has come by now.  Calls must come in the order of their times,
 * together with those of hud_links_cross. */
void hud_crossings_until(struct sim_crossings *all, double now_ns);

#endif
