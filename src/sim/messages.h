/* SPDX-License-Identifier: BSD-3-Clause */
/* messages.h - messages between the nodes of a span, for the files of src/sim. */
#ifndef HUD_SIM_MESSAGES_H
#define HUD_SIM_MESSAGES_H

#include "sim/world.h"

/* The current rank uses these bytes, which are no flag's: reports it if a message owns them. */
void hud_messages_touch(struct mem *m, const struct sim_spot *spot, size_t bytes,
                        sim_access *access);

void hud_messages_free(struct sim *s);

#endif
