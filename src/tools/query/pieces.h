/* SPDX-License-Identifier: BSD-3-Clause */
/* pieces.h - a plan as text. */
#ifndef HUD_PIECES_H
#define HUD_PIECES_H

#include "core/plan/plan.h"

#include <jansson.h>

/* Lists the plan's pieces for a collective: [{"min_bytes", "max_bytes" (null: no end), "serves"
 * (null: falls back to the MPI), "why"}, ...]. */
json_t *hud_pieces_json(const struct plan *plan, const struct config *config, int kind);

/* Lists the pieces for reductions that must combine the ranks in order, or returns null if they do
 * not differ. */
json_t *hud_ordered_json(const struct plan *plan, const struct config *config, int kind);

/* Writes JSON as text into *out, and drops it.  Returns HUD_OK, or HUD_ERR_MEMORY. */
int hud_json_give(json_t *json, char **out);

#endif
