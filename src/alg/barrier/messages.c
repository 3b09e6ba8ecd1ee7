/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * barrier/messages.c - baseline: empty messages up a binomial tree, and down again.
 *
 * Source    Open MPI, coll/base, the barrier "tree", over send and receive through shared queues;
 *           papers 03 and 05 are compared with such.
 * Shape     p ranks; 2 (p - 1) messages, each a line posted by its sender, and one by its receiver.
 * Cost      T = 2 ceil(log2 p) (l + w)    ns; l one line transfer, w a write to a line that another
 *           rank polls
 * Accepts   any number of ranks, if the lease has room for a cell between each two.
 *
 * Lines and edges are messages.h's: an entry goes up with each message, all of them come down.
 */
#include "alg/messages.h"

static const struct messages_form form = { .max_bytes = 0, .cells = 4 };

static size_t slot_bytes(const long *param, int ranks, size_t max_bytes)
{
    (void)param;
    return messages_bytes(&form, ranks, max_bytes);
}

static void receive(const struct messages *x, int from)
{
    messages_await(x, from);
    messages_leave(x, from);
}

static void send(const struct messages *x, int to)
{
    messages_send(x, to, messages_open(x, to), 0);
}

static void run(struct mem *m, const struct coll *c)
{
    const struct shape_tree binomial = { .kind = SHAPE_KNOMIAL, .degree = 2, .ranks = mem_size(m) };
    const struct messages x = messages_begin(m, c, &form, &binomial);
    int me = mem_rank(m), parent = hud_shape_parent(&x.tree, me), children = messages_children(&x);

    for (int i = children - 1; i >= 0; i--)
        receive(&x, hud_shape_child(&x.tree, me, i));
    if (parent >= 0) {
        send(&x, parent);
        receive(&x, parent);
    }
    for (int i = 0; i < children; i++)
        send(&x, hud_shape_child(&x.tree, me, i));
}

ALG_DEFINE(barrier, messages) = {
    .coll = "barrier",
    .name = "messages",
    .doc = "baseline: empty messages up a binomial tree and down again",
    .source = "Open MPI, coll/base",
    .baseline = true,
    .slot_bytes = slot_bytes,
    .run = run,
};
