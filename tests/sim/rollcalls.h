/* SPDX-License-Identifier: BSD-3-Clause */
/* rollcalls.h - call after call on one lease, some ranks looking around while they wait:
 * src/core/check/rollcall.c under the checker. */
#ifndef HUD_ROLLCALLS_H
#define HUD_ROLLCALLS_H

#include "sequence.h"

/* As sequence_run; options->only is ignored. */
bool rollcalls_run(const struct sequence_options *options, struct sequence_sums *sums, FILE *to);

#endif
