/* SPDX-License-Identifier: BSD-3-Clause */
/* rollcalls.h - tests src/core/watch/rollcall.c under the checker: many calls on one lease, in
 * which some ranks read the others' records while they wait. */
#ifndef HUD_ROLLCALLS_H
#define HUD_ROLLCALLS_H

#include "sequence.h"

/* Runs like sequence_run, but ignores options->only. */
bool rollcalls_run(const struct sequence_options *options, struct sequence_sums *sums, FILE *to);

#endif
