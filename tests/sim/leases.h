/* SPDX-License-Identifier: BSD-3-Clause */
/* leases.h - team after team, each of some of the ranks, in the same bytes of their arenas:
 * src/core/team/vacate.c under the checker. */
#ifndef HUD_LEASES_H
#define HUD_LEASES_H

#include "sequence.h"

/* As sequence_run; options->only is ignored. */
bool leases_run(const struct sequence_options *options, struct sequence_sums *sums, FILE *to);

#endif
