/* SPDX-License-Identifier: BSD-3-Clause */
/* hand_over.h - how the variables of a job reach its ranks on other nodes. */
#ifndef HUD_LAUNCH_HAND_OVER_H
#define HUD_LAUNCH_HAND_OVER_H

#include "options.h"

/* Adds the variables by which the launcher hands huddle's variables to ranks on all nodes.  Must be
 * called after all other variables are added.  Sets run->handed if the launcher is known, and
 * run->missing if ranks may run without huddle. */
void hud_launch_hand_over(struct run *run, char **command);

#endif
