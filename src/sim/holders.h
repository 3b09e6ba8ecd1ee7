/* SPDX-License-Identifier: BSD-3-Clause */
/* holders.h - which cores have a line (lines.h): the one that wrote it last, and those with a copy
 * of it. */
#ifndef HUD_SIM_HOLDERS_H
#define HUD_SIM_HOLDERS_H

#include "sim/lines.h"

bool hud_holders_has(const struct sim_line *line, int core);
/* The core, which has none, gets a copy. */
void hud_holders_add(struct sim_line *line, int core, const struct sim_machine *machine);
/* The class of the holder that is farthest from the core. */
int hud_holders_farthest(const struct sim_line *line, int core, const struct sim_machine *machine);

#endif
