/* SPDX-License-Identifier: BSD-3-Clause */
/* exchange.h - hud_exchange.start_allgather and test_allgather of a module. */
#ifndef HUD_OPENMPI_EXCHANGE_H
#define HUD_OPENMPI_EXCHANGE_H

#include "module.h"

enum { HUD_EXCHANGE_TAG = -5 }; /* messages.c uses -2 to -4 */

int hud_exchange_start(void *arg, const void *mine, size_t bytes, void *all, void **pending);
int hud_exchange_test(void *arg, void **pending, int *done);

#endif
