/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reduce_scatter.c - reduce_scatter/slices (slices.h): the slices are the blocks of the result, of
 * any sizes.
 *
 * Cost      T = F l + (1 - 1/p) n t + n r
 *           traffic: 2 (1 - 1/p) n
 */
#include "alg/slices/slices.h"

static void reduce_scatter_slices(struct mem *m, const struct coll *c)
{
    slices_run(
        m, c,
        &(struct slices_plan){
            .count = mem_size(m), .keeps = true, .blocks = true, .all_in = coll_in_place(c) });
}

ALG_DEFINE(reduce_scatter, slices) = {
    SLICES_ALG(reduce_scatter, "every rank reduces its block of all contributions"),
};
