/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * messages.c - the family `messages`, baselines: collectives as trees of messages, with send and
 * receive as an MPI implements them inside a node.  bcast goes down a tree (down.h), reduce up it
 * (up.h), allreduce up to rank 0 and down again.  Slot, lines and edges: messages.h.
 *
 * Source    Open MPI, coll/base, over send and receive through shared queues: the trees from which
 *           coll/tuned chooses (binomial, binary, chain), and the allreduce "nonoverlapping".
 *           Papers 04 and 05 compare with such collectives.
 * Shape     p ranks, n bytes.  Each pair of ranks has a queue for each direction, in the sender's
 *           slice: cells of at most f bytes, whose first bytes are next to the cell's flag.  A
 *           message is copied into a cell and out of it.  A longer message goes in several
 *           fragments, and is in transit through the whole tree at once.  As with send and receive,
 *           received data are copied out before they are passed on or added to anything, and a sum
 *           is copied in once more.
 * Cost      d the depth of the tree, k its degree, l ns one line transfer, t ns per byte copied, r
 *           t per byte added, w ns a write to a line that another rank polls:
 *             bcast      T = d (l + (k + 1) f t) + (n - f) (k + 1) t
 *             reduce     T = d (l + (k (1 + r) + 1) f t) + (n - f) (k (1 + r) + 1) t
 *             allreduce  T = reduce, then bcast
 *           The other costs of an MPI are not included: matching, requests, progress.
 * Accepts   any n, any root, if the lease has room for a cell between each two ranks.
 *
 * Deadlock freedom
 *   1. A receiver consumes all messages sent to it in an operation before it returns from the
 *      operation, so a sender that waits for a free cell waits for no rank in a later operation.
 *   2. Within an operation all messages go one way along a tree, or up it first and then down.
 */
#include "lab/alg/messages/down.h"
#include "lab/alg/messages/up.h"

enum messages_param { MESSAGES_FRAGMENT, MESSAGES_CELLS, MESSAGES_TREE, MESSAGES_DEGREE };

static const struct alg_param messages_params[] = {
    [MESSAGES_FRAGMENT] = { "fragment", "B", "f, bytes of a fragment of a message", HUD_ELEMENT_MAX,
                            1 << 20, HUD_ELEMENT_MAX, NULL },
    [MESSAGES_CELLS] = { "cells", "1",
                         "number of cells of the queue of a pair of ranks; fewer if the lease is "
                         "too small",
                         1, 256, 4, NULL },
    [MESSAGES_TREE] = { "tree", "", "tree of ranks along which messages are sent", 0,
                        SHAPE_KINDS - 1, SHAPE_KNOMIAL, hud_shape_names, .per_call = true },
    [MESSAGES_DEGREE] = { "degree", "1", SHAPE_DEGREE_DOC, 2, 64, 2, NULL, .per_call = true },
    { .name = NULL },
};

static struct messages_form messages_form_of(const long *param)
{
    return (struct messages_form){ (size_t)param[MESSAGES_FRAGMENT],
                                   (size_t)param[MESSAGES_CELLS] };
}

static size_t messages_slot_bytes(const long *param, int ranks, size_t max_bytes)
{
    const struct messages_form form = messages_form_of(param);

    return messages_bytes(&form, ranks, max_bytes);
}

static const struct alg_family family = {
    .params = messages_params,
    .slot_bytes = messages_slot_bytes,
};

ALG_INLINE struct messages messages_of(struct mem *m, const struct coll *c, int root)
{
    const struct messages_form form = messages_form_of(c->param);
    const struct shape_tree tree = coll_tree(m, c, root, MESSAGES_TREE, MESSAGES_DEGREE);

    return messages_begin(m, c, &form, &tree);
}

/* ---- bcast/messages: down a tree ---- */

static void bcast_messages(struct mem *m, const struct coll *c)
{
    const struct messages x = messages_of(m, c, c->root);

    down_run(&x, c);
}

ALG_DEFINE(bcast, messages) = {
    .coll = "bcast",
    .name = "messages",
    .doc = "baseline: messages down a tree, through one queue per pair of ranks",
    .source = "Open MPI, coll/base",
    .baseline = true,
    .sends = true,
    .family = &family,
    .run = bcast_messages,
};

/* ---- reduce/messages: up a tree ---- */

static void reduce_messages(struct mem *m, const struct coll *c)
{
    const struct messages x = messages_of(m, c, c->root);

    up_run(&x, c);
}

ALG_DEFINE(reduce, messages) = {
    .coll = "reduce",
    .name = "messages",
    .doc = "baseline: messages up a tree, through one queue per pair of ranks",
    .source = "Open MPI, coll/base",
    .baseline = true,
    .sends = true,
    .family = &family,
    .run = reduce_messages,
};

/* ---- allreduce/messages: up a tree to rank 0, and down again ---- */

static void allreduce_messages(struct mem *m, const struct coll *c)
{
    const struct messages x = messages_of(m, c, 0);

    up_run(&x, c);
    down_run(&x, c);
}

ALG_DEFINE(allreduce, messages) = {
    .coll = "allreduce",
    .name = "messages",
    .doc = "baseline: messages up a tree to rank 0 and down again, through one queue per pair of "
           "ranks",
    .source = "Open MPI, coll/base",
    .baseline = true,
    .sends = true,
    .family = &family,
    .run = allreduce_messages,
};
