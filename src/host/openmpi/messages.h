/* SPDX-License-Identifier: BSD-3-Clause */
/* messages.h - hud_exchange.messages of a module. */
#ifndef HUD_OPENMPI_MESSAGES_H
#define HUD_OPENMPI_MESSAGES_H

#include "module.h"

extern const struct hud_messages hud_openmpi_messages;

#endif
