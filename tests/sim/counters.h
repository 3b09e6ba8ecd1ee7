/* SPDX-License-Identifier: BSD-3-Clause */
/* counters.h - sets the counters that algorithms keep in their slots. */
#ifndef HUDDLE_TESTS_COUNTERS_H
#define HUDDLE_TESTS_COUNTERS_H

#include "alg/alg.h"

/* Sets this rank's part of a slot to the state after `calls` calls. All ranks must do so before the
 * first call. Returns false if the algorithm has no counters, and then changes nothing. */
bool counters_start(struct mem *m, const struct alg *alg, const struct alg_place *place,
                    uint64_t calls);
/* Sets the counters of the family `pairwise` in a span of `ranks` ranks in the same way. */
void counters_start_pairwise(struct mem *m, const struct alg_place *place, int ranks,
                             uint64_t calls);

#endif
