/* SPDX-License-Identifier: BSD-3-Clause */
/* explain.h - a plan as text. */
#ifndef HUD_EXPLAIN_H
#define HUD_EXPLAIN_H

#include "core/choose/plan.h"

#include <jansson.h>

/* [{"min_bytes", "max_bytes" (null: no end), "serves" (null: falls back to the MPI), "why"}, ...]:
 * the plan's pieces for a collective. */
json_t *hud_pieces_json(const struct plan *plan, const struct config *config, int kind);

/* The same for reductions that must combine the ranks in order, if they differ; else null. */
json_t *hud_ordered_json(const struct plan *plan, const struct config *config, int kind);

#endif
