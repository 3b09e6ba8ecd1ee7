/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * round.h - what the set-up of a team waits for: a round of the host's allgather, an answer, other
 * ranks.  On a fiber it suspends; without one, in a blocking call, it waits on the spot.
 */
#ifndef HUD_ROUND_H
#define HUD_ROUND_H

#include "core/team/team.h"

struct pause {
    struct hud_context *context;
    struct fiber_task *task; /* NULL: none */
};
/* Passes the time in a wait of the set-up.  arg: struct pause. */
void hud_round_pause(void *arg);

/* Asks in a set-up until the answer is yes.  Without a fiber, requests of other teams advance
 * meanwhile, and other processes get the processor now and then. */
void hud_round_await(struct hud_context *context, struct fiber_task *task, bool (*ask)(void *arg),
                     void *arg);

/* Makes a round of a set-up.  Returns whether the exchange succeeded. */
bool hud_round_gather(struct hud_team *team, struct fiber_task *task, const void *mine,
                      size_t bytes, void *all);

#endif
