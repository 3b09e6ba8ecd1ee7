/* SPDX-License-Identifier: BSD-3-Clause */
/* network.h - the lines of [network] of a tuning file. */
#ifndef HUD_NETWORK_H
#define HUD_NETWORK_H

#include "cost/network.h"

#include <stddef.h>

/* Takes a line of [network].  False: why holds what is wrong. */
bool hud_network_take(struct cost_network *network, const char *key, const char *value, char *why,
                      size_t why_bytes);

#endif
