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

/* There is a cost of this row of alg.def. */
bool hud_model_knows(int row);

/* The least power of two from which the first takes less than the other, for a team of so many
 * ranks over several units, and does so for all larger messages; SIZE_MAX: it never does.  Both are
 * known. */
size_t hud_model_cheaper_from(int row, int than, int ranks);

#endif
