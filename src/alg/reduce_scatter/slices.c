/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reduce_scatter/slices.c - every rank reduces its block of all contributions, straight into its
 * out; pipelined by fragments.
 *
 * Source    this project, after paper 05: queues worked by active waiting, no barrier on the path.
 *           The protocol: alg/slices.h and slices_steps.h.
 * Shape     p ranks, n bytes, the slices are the blocks of the result, of any sizes; a fragment
 *           takes an equal piece of each.  Equal blocks: a rank copies in (1 - 1/p) n, reads n to
 *           reduce n/p.
 * Cost      T = F l + (1 - 1/p) n t + n r     ns; F fragments of the longest block, l one line
 *           transfer, t ns per byte copied, r ns per byte that a reduction reads traffic: beyond n
 *           in and n/p out a rank writes (1 - 1/p) n to its window and reads (1 - 1/p) n from
 *           others'
 * Accepts   any n, if the lease has a window.
 *
 * In place, out is the beginning of in.  A byte of in lies as far or farther from its message's
 * beginning than from its block's; so what a fragment writes to out has been copied in with that
 * fragment or an earlier one, the own contribution too.
 */
#include "alg/slices.h"

static void run(struct mem *m, const struct coll *c)
{
    slices_run(
        m, c,
        &(struct slices_way){
            .count = mem_size(m), .keeps = true, .blocks = true, .all_in = coll_in_place(c) });
}

ALG_DEFINE(reduce_scatter, slices) = {
    .coll = "reduce_scatter",
    .name = "slices",
    .doc = "every rank reduces its block of all contributions",
    .source = "this project, after paper 05",
    .params = slices_params,
    .ordered = true,
    .family = "slices",
    .slot_bytes = slices_slot_bytes,
    .run = run,
};
