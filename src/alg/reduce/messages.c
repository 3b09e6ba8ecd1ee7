/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reduce/messages.c - baseline: messages up a tree, each copied into a queue of its pair of ranks
 * and out of it, and added.
 *
 * Source    Open MPI, coll/base, the trees that coll/tuned chooses from (binomial, binary, chain),
 *           over send and receive through shared queues; paper 05 is compared with such.
 * Shape     p ranks, n bytes, by messages of f; a rank of k children copies k n out, adds k n, and
 *           copies n in.
 * Cost      T = d (l + (k (1 + r) + 1) f t) + (n - f) (k (1 + r) + 1) t    ns; d the depth of the
 *           tree, k its degree, l one line transfer, t ns per byte copied, r t per byte added
 *           traffic: 3 k n read, 2 k n written, beside the copies in: n each
 * Accepts   any n, any root, if the lease has room for a cell between each two ranks.
 *
 * Lines and edges are messages.h's.
 */
#include "alg/messages_ways.h"

static void run(struct mem *m, const struct coll *c)
{
    const struct messages x = messages_of(m, c, c->root);

    messages_up(&x, c);
}

ALG_DEFINE(reduce, messages) = {
    .coll = "reduce",
    .name = "messages",
    .doc = "baseline: messages up a tree, through a queue of each pair of ranks",
    .source = "Open MPI, coll/base",
    .baseline = true,
    .family = "messages",
    .params = messages_params,
    .slot_bytes = messages_slot_bytes,
    .run = run,
};
