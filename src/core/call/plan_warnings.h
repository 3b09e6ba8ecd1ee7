/* SPDX-License-Identifier: BSD-3-Clause */
/* plan_warnings.h - lines about the calls that a team's plan leaves to the MPI. */
#ifndef HUD_PLAN_WARNINGS_H
#define HUD_PLAN_WARNINGS_H

#include "core/job/context.h"

/* Prints lines about the calls that such a plan leaves to the MPI. */
void hud_plan_warnings_print(struct hud_context *context, const struct plan *plan);

/* Returns whether too little memory for the team now set up is worth a line: the user has given
 * the setting (SET_MEMORY or SET_LEASE), and the team is the first of the job's rank 0.  Later
 * teams get the memory left by earlier teams. */
bool hud_plan_warnings_memory(struct hud_context *context, int set);

#endif
