/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reduce/slices.c - the ranks beside the root reduce a slice each, and the root copies out the
 * results; pipelined by fragments.
 *
 * Source    this project, after paper 05: queues worked by active waiting, no barrier on the path.
 *           The protocol: alg/slices.h and slices_steps.h.
 * Shape     p ranks, n bytes.  The root copies in and out n, another copies in (p - 2)/(p - 1) n
 *           and reads p/(p - 1) n to reduce n/(p - 1): copying is the root's part, and takes as
 *           long as reducing three contributions.  So this is for four ranks or more with a
 *           processor each; reduce/gather is for the others.
 * Cost      T = 2 F l + 2 n t     ns; F fragments, l one line transfer, t ns per byte copied
 *           traffic: beyond n in and, at the root, n out the root writes n and reads n; another
 *           writes (p - 2)/(p - 1) n and n/(p - 1), and reads n
 * Accepts   any n, if the lease has a window.
 */
#include "alg/slices.h"

static void run(struct mem *m, const struct coll *c)
{
    int others = mem_size(m) > 1 ? mem_size(m) - 1 : 1;
    bool root = mem_rank(m) == c->root, alone = mem_size(m) == 1;

    slices_run(m, c,
               &(struct slices_way){ .first = c->root + 1,
                                     .count = others,
                                     .keeps = alone,
                                     .publishes = !alone,
                                     .collects = root });
}

ALG_DEFINE(reduce, slices) = {
    .coll = "reduce",
    .name = "slices",
    .doc = "the ranks beside the root reduce a slice each, the root copies out the results",
    .source = "this project, after paper 05",
    .params = slices_params,
    .ordered = true,
    .family = "slices",
    .slot_bytes = slices_slot_bytes,
    .run = run,
};
