/* SPDX-License-Identifier: BSD-3-Clause */
/* counters.h - the counters that algorithms keep in their slots. */
#ifndef HUDDLE_TESTS_COUNTERS_H
#define HUDDLE_TESTS_COUNTERS_H

#include "alg/alg.h"

/* This rank's part of a slot, as after so many calls; all must have done so before the first one.
 * False: it is as it was. */
bool counters_start(struct mem *m, const struct alg *alg, const struct alg_place *place,
                    uint64_t calls);
/* Likewise, of the family `pairs` in a span of so many ranks. */
void counters_start_pairs(struct mem *m, const struct alg_place *place, int ranks, uint64_t calls);

#endif
