/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * barrier.c - barrier/messages, baseline: the barriers by send and receive with which paper 03
 * compares.  Slot, lines and edges: messages.h.
 *
 * Source    Open MPI, coll/base: "tree", "linear", "double_ring", "recursive_doubling", "bruck".
 * Shape     p ranks; empty messages.
 * Cost      l ns one line transfer, w ns a write to a line that another rank polls:
 *             tree         T = 2 ceil(log2 p) (l + w)
 *             linear       T = 2 l + (p - 2) (g + w)     g one more overlapped
 *             double ring  T = 2 p (l + w)
 *             doubling     T = ceil(log2 p) (l + w), and 2 (l + w) where p is no power of two
 *             bruck        T = ceil(log2 p) (l + w)
 * Accepts   any number of ranks, if the lease has room for a cell between each two ranks.
 *
 * Deadlock freedom
 *   1. A rank consumes all messages sent to it in an operation before it returns from the
 *      operation, and at most two messages of a pair belong to one operation.  So a rank that waits
 *      for a free cell waits for a rank in this operation or an earlier one, which has all messages
 *      that it needs to continue.
 *   2. double ring, one cell: the second message follows a message that has gone round the ring, so
 *      the first message has been consumed.
 */
#include "lab/alg/messages/messages.h"

enum param { FORM };
enum form { TREE, LINEAR, DOUBLE_RING, DOUBLING, BRUCK };

static const char *const forms[] = { "tree", "linear", "double_ring", "doubling", "bruck", NULL };

static const struct alg_param params[] = {
    [FORM] = { "form", "", "algorithm of Open MPI's barrier", TREE, BRUCK, TREE, forms,
               .per_call = true },
    { .name = NULL },
};

static const struct messages_form empty = { .max_bytes = 0, .cells = 4 };

static size_t slot_bytes(const long *param, int ranks, size_t max_bytes)
{
    (void)param;
    return messages_bytes(&empty, ranks, max_bytes);
}

static void receive_empty(const struct messages *x, int from)
{
    messages_await(x, from);
    messages_acknowledge(x, from);
}

static void send_empty(const struct messages *x, int to)
{
    messages_send(x, to, messages_free_cell(x, to), 0);
}

/* Sends messages up a binomial tree and down again. */
static void tree(const struct messages *x, int me, int ranks)
{
    int parent = hud_shape_parent(&x->tree, me), children = 0;

    (void)ranks;
    while (hud_shape_child(&x->tree, me, children) >= 0)
        children++;
    for (int i = children - 1; i >= 0; i--)
        receive_empty(x, hud_shape_child(&x->tree, me, i));
    if (parent >= 0) {
        send_empty(x, parent);
        receive_empty(x, parent);
    }
    for (int i = 0; i < children; i++)
        send_empty(x, hud_shape_child(&x->tree, me, i));
}

static void linear(const struct messages *x, int me, int ranks)
{
    if (me != 0) {
        send_empty(x, 0);
        receive_empty(x, 0);
        return;
    }
    for (int r = 1; r < ranks; r++)
        receive_empty(x, r);
    for (int r = 1; r < ranks; r++)
        send_empty(x, r);
}

/* Sends a message round the ring twice. */
static void double_ring(const struct messages *x, int me, int ranks)
{
    int left = (me + ranks - 1) % ranks, right = (me + 1) % ranks;

    for (int round = 0; ranks > 1 && round < 2; round++) {
        if (me != 0)
            receive_empty(x, left);
        send_empty(x, right);
        if (me == 0)
            receive_empty(x, left);
    }
}

/* Exchanges by recursive doubling.  Ranks beyond a power of two enter and leave through another
 * rank. */
static void doubling(const struct messages *x, int me, int ranks)
{
    int whole = 1;

    while (2 * whole <= ranks)
        whole *= 2;
    if (me >= whole) {
        send_empty(x, me - whole);
        receive_empty(x, me - whole);
        return;
    }
    if (me + whole < ranks)
        receive_empty(x, me + whole);
    for (int mask = 1; mask < whole; mask *= 2) {
        send_empty(x, me ^ mask);
        receive_empty(x, me ^ mask);
    }
    if (me + whole < ranks)
        send_empty(x, me + whole);
}

static void bruck(const struct messages *x, int me, int ranks)
{
    for (int distance = 1; distance < ranks; distance *= 2) {
        send_empty(x, (me + distance) % ranks);
        receive_empty(x, (me + ranks - distance) % ranks);
    }
}

static void barrier_messages(struct mem *m, const struct coll *c)
{
    static void (*const run[])(const struct messages *x, int me,
                               int ranks) = { [TREE] = tree,
                                              [LINEAR] = linear,
                                              [DOUBLE_RING] = double_ring,
                                              [DOUBLING] = doubling,
                                              [BRUCK] = bruck };
    const struct shape_tree binomial = { .kind = SHAPE_KNOMIAL, .degree = 2, .ranks = mem_size(m) };
    const struct messages x = messages_begin(m, c, &empty, &binomial);

    run[c->param[FORM]](&x, mem_rank(m), mem_size(m));
}

static const struct alg_family family = {
    .params = params,
    .slot_bytes = slot_bytes,
};

ALG_DEFINE(barrier, messages) = {
    .coll = "barrier",
    .name = "messages",
    .doc =
        "baseline: empty messages up and down a binomial tree, or another of Open MPI's barriers",
    .source = "Open MPI, coll/base",
    .baseline = true,
    .sends = true,
    .family = &family,
    .run = barrier_messages,
};
