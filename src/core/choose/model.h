/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * model.h - predictions of time models where nothing was measured: which of two algorithms takes
 * less time.  A rule asks by `cheaper_than` (rules.h).  The costs are those of src/cost/units.h on
 * a typical machine of two sockets.  They are good enough for the size from which distance decides,
 * but not for a time.
 */
#ifndef HUD_MODEL_H
#define HUD_MODEL_H

#include <stdbool.h>
#include <stddef.h>

/* Whether there is a cost for this row of alg.def. */
bool hud_model_knows(int row);

/* The smallest power of two from which on the first row takes less time than the other, in a team
 * of that many ranks over several units; SIZE_MAX: never.  Both rows must be known. */
size_t hud_model_cheaper_from(int row, int than, int ranks);

#endif
