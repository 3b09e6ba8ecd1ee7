/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * allreduce/messages.c - baseline: a reduction by messages up a tree to rank 0, then a broadcast by
 * messages down the same tree.
 *
 * Source    Open MPI, coll/base, "nonoverlapping", over send and receive through shared queues;
 *           paper 05 is compared with such.
 * Shape     p ranks, n bytes: reduce/messages, then bcast/messages.
 * Cost      T = those of the two, one after the other
 *           traffic: theirs
 * Accepts   any n, if the lease has room for a cell between each two ranks.
 *
 * Lines and edges are messages.h's.
 */
#include "alg/messages_ways.h"

static void run(struct mem *m, const struct coll *c)
{
    const struct messages x = messages_of(m, c, 0);
    struct coll result = *c;

    messages_up(&x, c);
    result.buf = c->out;
    messages_down(&x, &result);
}

ALG_DEFINE(allreduce, messages) = {
    .coll = "allreduce",
    .name = "messages",
    .doc = "baseline: messages up a tree to rank 0 and down again, through a queue of each pair of "
           "ranks",
    .source = "Open MPI, coll/base",
    .baseline = true,
    .family = "messages",
    .params = messages_params,
    .slot_bytes = messages_slot_bytes,
    .run = run,
};
