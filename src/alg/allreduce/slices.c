/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * allreduce/slices.c - every rank reduces its slice of all contributions, then all copy out the
 * results; pipelined by fragments.
 *
 * Source    this project, after paper 05: queues worked by active waiting, no barrier on the path.
 *           The protocol: alg/slices.h and slices_steps.h.
 * Shape     p ranks, n bytes.  A rank copies in (1 - 1/p) n, reads n to reduce n/p, copies out (1 -
 *           1/p) n.
 * Cost      T = 2 F l + (1 - 1/p) n t + n r + (1 - 1/p) n t     ns; F fragments, l one line
 *           transfer, t ns per byte copied, r ns per byte that a reduction reads traffic: beyond n
 *           in and n out a rank writes (1 - 1/p) n and n/p to its window and reads (1 - 1/p) n
 *           twice from others': (3 - 2/p) n; two ranks: 2 n
 * Accepts   any n, if the lease has a window.
 */
#include "alg/slices.h"

static void run(struct mem *m, const struct coll *c)
{
    slices_run(m, c,
               &(struct slices_way){
                   .count = mem_size(m), .keeps = true, .publishes = true, .collects = true });
}

ALG_DEFINE(allreduce, slices) = {
    .coll = "allreduce",
    .name = "slices",
    .doc = "every rank reduces its slice of all contributions, all copy out the results",
    .source = "this project, after paper 05",
    .params = slices_params,
    .ordered = true,
    .family = "slices",
    .slot_bytes = slices_slot_bytes,
    .run = run,
};
