/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * messages.c - the family `messages`, baselines: collectives as trees of messages, with send and
 * receive as an MPI implements them inside a node.  Slot, lines and edges: messages.h.
 *
 * Source    Open MPI, coll/base, over send and receive through shared queues: the trees that
 *           coll/tuned chooses from (binomial, binary, chain); the allreduce "nonoverlapping".
 *           Papers 04 and 05 are compared with such.
 * Shape     p ranks, n bytes.  Each pair of ranks has a queue each way, in the sender's slice:
 *           cells of at most f bytes, the first of them next to the cell's flag.  A message is
 *           copied into a cell and out of it; a longer one goes in several, and is on its way
 *           through all of the tree at once.  As with send and receive, what comes is copied out
 *           before it is passed on or added to anything, and a sum is copied in once more.
 * Cost      d the depth of the tree, k its degree, l ns one line transfer, t ns per byte copied, r
 *           t per byte added, w ns a write to a line that another rank polls:
 *             bcast      T = d (l + (k + 1) f t) + (n - f) (k + 1) t
 *             reduce     T = d (l + (k (1 + r) + 1) f t) + (n - f) (k (1 + r) + 1) t
 *             allreduce  T = reduce, then bcast
 *           Nothing here is what an MPI spends besides: matching, requests, progress.
 * Accepts   any n, any root, if the lease has room for a cell between each two ranks.
 *
 * Deadlock freedom
 *   1. A receiver consumes all that is sent to it in an operation before it returns from it: a
 *      sender that waits for a free cell waits for no rank in a later operation.
 *   2. Within an operation all messages go one way along a tree, or up it first and then down.
 */
#include "alg/messages/messages.h"

enum messages_param { MESSAGES_FRAGMENT, MESSAGES_CELLS, MESSAGES_TREE, MESSAGES_DEGREE };

static const struct alg_param messages_params[] = {
    [MESSAGES_FRAGMENT] = { "fragment", "B", "f, bytes of a message that go at once",
                            HUD_ELEMENT_MAX, 1 << 20, HUD_ELEMENT_MAX, NULL },
    [MESSAGES_CELLS] = { "cells", "1", "of a pair's queue; fewer where the lease holds fewer", 1,
                         256, 4, NULL },
    [MESSAGES_TREE] = { "tree", "", "who sends to whom", 0, SHAPE_KINDS - 1, SHAPE_KNOMIAL,
                        hud_shape_names, .per_call = true },
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
    const struct shape_tree tree = { (enum shape_kind)c->param[MESSAGES_TREE],
                                     (int)c->param[MESSAGES_DEGREE], mem_size(m), root, c->groups };

    return messages_begin(m, c, &form, &tree);
}

static int messages_children(const struct messages *x)
{
    int count = 0;

    while (hud_shape_child(&x->tree, mem_rank(x->m), count) >= 0)
        count++;
    return count;
}

/* The root sends what is in its c->out from there on to each child, the same bytes.  Returns the
 * header: the end may be the last whole element's. */
ALG_INLINE uint64_t messages_send_down(const struct messages *x, const struct coll *c, size_t done)
{
    uint64_t header = 0;
    int child;

    for (int i = 0; (child = hud_shape_child(&x->tree, x->tree.root, i)) >= 0; i++) {
        mem_flag *cell = messages_free_cell(x, child);
        if (i == 0)
            header = fragment_copy_in(x->m, c, messages_data(cell), done, x->max_bytes);
        else
            mem_in_all(x->m, messages_data(cell), c->out, done, fragment_bytes(header));
        messages_send(x, child, cell, header);
    }
    return header;
}

/* Other ranks receive it and send it on.  Returns its header. */
ALG_INLINE uint64_t messages_forward(const struct messages *x, const struct coll *c, size_t done)
{
    int me = mem_rank(x->m), parent = hud_shape_parent(&x->tree, me), child;
    mem_flag *from = messages_await(x, parent);
    uint64_t header = mem_get(x->m, from->payload);

    mem_out(x->m, c->out, messages_data(from), done, fragment_bytes(header));
    for (int i = 0; (child = hud_shape_child(&x->tree, me, i)) >= 0; i++) {
        mem_flag *to = messages_free_cell(x, child);
        mem_copy(x->m, messages_data(to), messages_data(from), fragment_bytes(header));
        messages_send(x, child, to, header);
    }
    messages_acknowledge(x, parent);
    return header;
}

/* c->out of the root to all others'. */
ALG_INLINE void messages_down(const struct messages *x, const struct coll *c)
{
    bool root = mem_rank(x->m) == x->tree.root;
    uint64_t header = mem_size(x->m) == 1 ? 0 : FRAGMENT_MORE; /* alone: nothing to send */

    for (size_t done = 0; header & FRAGMENT_MORE; done += fragment_bytes(header))
        header = root ? messages_send_down(x, c, done) : messages_forward(x, c, done);
}

/* The sum over this rank and all below it of so many bytes, from there on: to the parent; the
 * root's is in c->out->  What is small below comes first. */
ALG_INLINE void messages_add(const struct messages *x, const struct coll *c, size_t done,
                             size_t bytes)
{
    int me = mem_rank(x->m), parent = hud_shape_parent(&x->tree, me);
    char *came = mem_slot(x->m, me), *kept = came + x->cell_bytes;
    const struct mem_span own = { .view = c->in, .offset_bytes = done },
                          out = { .view = c->out, .offset_bytes = done };
    const struct mem_span sum = parent < 0 ? out : (struct mem_span){ .shared = kept };
    struct mem_span all[] = { own, { .shared = came } };

    for (int i = messages_children(x) - 1; i >= 0; i--) {
        int child = hud_shape_child(&x->tree, me, i);
        mem_copy(x->m, came, messages_data(messages_await(x, child)), bytes);
        messages_acknowledge(x, child);
        mem_reduce(x->m, c->reduction, &sum, NULL, all, 2, bytes);
        all[0] = sum;
    }
    if (parent >= 0) {
        mem_flag *cell = messages_free_cell(x, parent);
        mem_move(x->m, &(struct mem_span){ .shared = messages_data(cell) }, &all[0], bytes);
        messages_send(x, parent, cell, fragment_header(bytes, bytes));
    } else if (mem_size(x->m) == 1) {
        mem_reduce(x->m, c->reduction, &sum, NULL, all, 1, bytes);
    }
}

ALG_INLINE void messages_up(const struct messages *x, const struct coll *c)
{
    size_t max = x->max_bytes / c->reduction->element_bytes * c->reduction->element_bytes;

    for (size_t done = 0, bytes; done < c->bytes; done += bytes) {
        bytes = c->bytes - done < max ? c->bytes - done : max;
        messages_add(x, c, done, bytes);
    }
}

/* ---- bcast/messages: down a tree ---- */

static void bcast_messages(struct mem *m, const struct coll *c)
{
    const struct messages x = messages_of(m, c, c->root);

    messages_down(&x, c);
}

ALG_DEFINE(bcast, messages) = {
    .coll = "bcast",
    .name = "messages",
    .doc = "baseline: messages down a tree, through a queue of each pair of ranks",
    .source = "Open MPI, coll/base",
    .baseline = true,
    .family = &family,
    .run = bcast_messages,
};

/* ---- reduce/messages: up a tree ---- */

static void reduce_messages(struct mem *m, const struct coll *c)
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
    .family = &family,
    .run = reduce_messages,
};

/* ---- allreduce/messages: up a tree to rank 0, and down again ---- */

static void allreduce_messages(struct mem *m, const struct coll *c)
{
    const struct messages x = messages_of(m, c, 0);

    messages_up(&x, c);
    messages_down(&x, c);
}

ALG_DEFINE(allreduce, messages) = {
    .coll = "allreduce",
    .name = "messages",
    .doc = "baseline: messages up a tree to rank 0 and down again, through a queue of each pair of "
           "ranks",
    .source = "Open MPI, coll/base",
    .baseline = true,
    .family = &family,
    .run = allreduce_messages,
};
