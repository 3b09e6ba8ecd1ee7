/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * suspend.h - calls that run on a fiber: their waits suspend it, so that other requests, and the
 * program, go on meanwhile.  What a team and a context need for that.
 */
#ifndef HUD_SUSPEND_H
#define HUD_SUSPEND_H

#include "core/team/team.h"

/* Prepares the call queues of a context: they observe long waits as a team does, and while a
 * thread waits they make progress, first of requests, then of the host. */
void hud_suspend_init(struct hud_context *context, bool threads);

/* Lets the waits of a team that has slices suspend the fiber, until hud_suspend_detach(). */
void hud_suspend_attach(struct hud_team *team, struct fiber_task *task);
void hud_suspend_detach(struct hud_team *team);

#endif
