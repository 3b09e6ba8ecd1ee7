/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * model.h - predicts which of two algorithms takes less time, for sizes that were not measured.
 * A rule asks for this with `cheaper_than` (rules.h).  The costs are those of src/cost/units.h on
 * a typical machine of two sockets.  They are precise enough to find the size from which distance
 * decides, but not to predict a time.
 */
#ifndef HUD_MODEL_H
#define HUD_MODEL_H

#include <stdbool.h>
#include <stddef.h>

/* Returns whether the model has costs for this row of alg.def. */
bool hud_model_knows(int row);

/* Returns the smallest power of two from which `row` takes less time than `than`, in a team of so
 * many ranks in several units.  Returns SIZE_MAX if there is none, or a row is not known. */
size_t hud_model_cheaper_from(int row, int than, int ranks);

#endif
