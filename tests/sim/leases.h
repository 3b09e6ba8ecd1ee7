/* SPDX-License-Identifier: BSD-3-Clause */
/* leases.h - tests src/core/slice/team_leave.c under the checker: a sequence of teams, each of some
 * of the ranks, uses the same bytes of their arenas. */
#ifndef HUD_LEASES_H
#define HUD_LEASES_H

#include "sequence.h"

/* Runs like sequence_run, but ignores options->only. */
bool leases_run(const struct sequence_options *options, struct sequence_sums *sums, FILE *to);

#endif
