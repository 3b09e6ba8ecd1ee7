/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * crossings.h - lines that nobody waits for, and that cross links (links.h) in their turn: stores,
 * claims, and looks of those who poll.
 *
 * Such a line may be on its way in the future: then it crosses when that time has come, since it
 * must be in the way of nobody who crosses before, and what it then waits for makes later whatever
 * counts on it (lines.h).
 */
#ifndef HUD_SIM_CROSSINGS_H
#define HUD_SIM_CROSSINGS_H

#include "sim/lines.h"
#include "sim/links.h"

struct sim_crossings;

/* Lines and links must live as long. */
struct sim_crossings *hud_crossings_create(struct sim_lines *lines, struct sim_links *links);
void hud_crossings_free(struct sim_crossings *all); /* NULL is allowed */

/* A core's use of a line, which crosses when it begins, and not before now. */
void hud_crossings_add(struct sim_crossings *all, struct sim_line *line, int core,
                       const struct sim_fetch *f, double now_ns);
/* All cross whose time has come by now.  Calls come in the order of their times, and of those of
 * hud_links_cross. */
void hud_crossings_until(struct sim_crossings *all, double now_ns);

#endif
