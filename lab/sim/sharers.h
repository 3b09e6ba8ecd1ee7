/* SPDX-License-Identifier: BSD-3-Clause */
/* sharers.h - the cores that have a line (lines.h): the core that wrote it last, and the cores with
 * a copy. */
#ifndef HUD_SIM_SHARERS_H
#define HUD_SIM_SHARERS_H

#include "lab/sim/lines.h"

bool hud_sharers_has(const struct sim_line *line, int core);
/* Adds a copy of the core, which must not have the line. */
void hud_sharers_add(struct sim_line *line, int core, const struct sim_machine *machine);
/* Returns the class of the holder that is farthest from the core. */
int hud_sharers_farthest(const struct sim_line *line, int core, const struct sim_machine *machine);

#endif
