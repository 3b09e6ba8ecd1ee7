/* SPDX-License-Identifier: BSD-3-Clause */
/* network.h - the line `network` of a tuning file. */
#ifndef HUD_NETWORK_H
#define HUD_NETWORK_H

#include "cost/network.h"

#include <stddef.h>

/* Starts a line. */
void hud_network_begin(struct cost_network *network);
/* Takes a value of the line.  Returns false if the value is wrong; why then holds the reason. */
bool hud_network_take(struct cost_network *network, const char *key, const char *value, char *why,
                      size_t why_bytes);
/* Ends the line.  Returns false if a value is missing or out of order; why then holds the
 * reason. */
bool hud_network_end(struct cost_network *network, char *why, size_t why_bytes);

#endif
