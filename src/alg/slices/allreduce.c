/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * allreduce.c - allreduce/slices (slices.h): every rank owns a slice, and all copy out the results.
 *
 * Cost      T = 2 F l + (1 - 1/p) n t + n r + (1 - 1/p) n t
 *           traffic: (3 - 2/p) n
 */
#include "alg/slices/slices.h"

static void allreduce_slices(struct mem *m, const struct coll *c)
{
    slices_run(m, c,
               &(struct slices_plan){ .count = mem_size(m),
                                      .keeps = true,
                                      .publishes = true,
                                      .collects = true,
                                      .alone = mem_size(m) == 2 });
}

ALG_DEFINE(allreduce, slices) = {
    SLICES_ALG(allreduce,
               "every rank reduces one slice of all contributions; all ranks copy the results"),
};
