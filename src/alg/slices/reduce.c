/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reduce.c - reduce/slices (slices.h): all ranks but the root own a slice.
 *
 * Cost      T = 2 F l + 2 n t
 *           traffic: 2 n
 *
 * The root copies in and out n bytes.  Another rank copies in (p - 2)/(p - 1) n and reads p/(p - 1)
 * n to reduce n/(p - 1).  Copying takes the root as long as reducing three contributions.  So this
 * is for four ranks or more with one core per rank, and reduce/gather for fewer.
 */
#include "alg/slices/slices.h"

static void reduce_slices(struct mem *m, const struct coll *c)
{
    int others = mem_size(m) > 1 ? mem_size(m) - 1 : 1;
    bool root = mem_rank(m) == c->root, alone = mem_size(m) == 1;

    slices_run(m, c,
               &(struct slices_plan){ .first = c->root + 1,
                                      .count = others,
                                      .keeps = alone,
                                      .publishes = !alone,
                                      .collects = root,
                                      .alone = true });
}

ALG_DEFINE(reduce, slices) = {
    SLICES_ALG(reduce, "every rank except the root reduces one slice of all contributions; the "
                       "root copies the results"),
};
