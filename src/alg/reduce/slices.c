/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reduce/slices.c - the ranks beside the root reduce a slice each, and the root copies out the results; few ranks: the root reduces all; pipelined by fragments.
 *
 * Source    this project, after paper 05: queues worked by active waiting, no barrier on the path.  The protocol, its lines and edges: alg/slices.h.
 * Shape     p ranks, n bytes.  p <= 3: the others copy in n, the root reads p n to reduce them straight into its out.  Else the root copies in and out n, another
 *           copies in (p - 2)/(p - 1) n and reads p/(p - 1) n to reduce n/(p - 1): copying is the root's part, and it takes as long as reducing three contributions.
 * Cost      p <= 3: T = F l + n p r     else: T = 2 F l + 2 n t     ns; F fragments, l one line transfer, t ns per byte copied, r ns per byte that a reduction reads
 *           traffic: beyond n in and, at the root, n out, p <= 3: n written by another, (p - 1) n read by the root;
 *           else: n written and n read by the root; (p - 2)/(p - 1) n and n/(p - 1) written, n read by another
 * Accepts   any n, if the lease has a window.
 */
#include "alg/slices.h"

enum { ROOT_ALONE = 3 }; /* most ranks of which the root reduces all */

static const struct alg_param params[] = SLICES_PARAMS;

static void run(struct mem *m, const struct coll *c)
{
    bool root = mem_rank(m) == c->root;

    if (mem_size(m) <= ROOT_ALONE)
        slices_run(m, c, &(struct slices_way){ .first = c->root, .count = 1, .keeps = true });
    else
        slices_run(m, c, &(struct slices_way){ .first = c->root + 1, .count = mem_size(m) - 1, .publishes = true, .collects = root });
}

ALG_DEFINE(reduce, slices) = {
    .coll = "reduce",
    .name = "slices",
    .doc = "the ranks beside the root reduce a slice each, the root copies out the results",
    .source = "this project, after paper 05",
    .params = params,
    .ordered = true,
    .family = "slices",
    .slot_bytes = slices_slot_bytes,
    .run = run,
};
