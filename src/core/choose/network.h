/* SPDX-License-Identifier: BSD-3-Clause */
/* network.h - the lines of [network] of a tuning file. */
#ifndef HUD_NETWORK_H
#define HUD_NETWORK_H

#include "cost/network.h"

#include <stddef.h>

/* Begins the table; takes a line of it; ends it.  False: why holds what is wrong, or what is
 * missing. */
void hud_network_begin(struct cost_network *network);
bool hud_network_take(struct cost_network *network, const char *key, const char *value, char *why,
                      size_t why_bytes);
bool hud_network_end(struct cost_network *network, char *why, size_t why_bytes);

#endif
