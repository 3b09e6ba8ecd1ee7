/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tree.c - the family `trees`: fragments are reduced up a tree.  A rank reads the fragment of all
 * its children at once, adds its own, and publishes the sum in its queue.  reduce/tree ends at the
 * root; in allreduce/tree rank 0 publishes the result to all, and up and down go at the same time.
 * The queue and its acknowledgements: queue.h.
 *
 * Source    this project, after papers 04 (pipelined trees) and 05 (no barriers on the path).
 * Shape     p ranks, n bytes, by fragments of f; a rank of c children reads c fragments and its
 *           own and writes one; allreduce: then all copy rank 0's out.
 * Cost      d the depth of the tree, c its degree, l ns one line transfer, g one more overlapped
 *           line, t ns per byte read and reduced, or copied:
 *             reduce     T = d (l + (c - 1) g + f (c + 1) t) + (n - f) (c + 1) t
 *             allreduce  T = d (l + (c - 1) g + f (c + 1) t) + l + (p - 2) g + f t
 *                            + (n - f) (c + 2) t
 *           traffic: c n read, n written; allreduce: n more read
 * Accepts   any n, any root, if the lease has a window.
 *
 * Line                        written by  read by     value k means
 *   slot[r].word[k % units]   r           r's parent  the sum over r and all below it at position
 *                                                     k - 1 is in r's queue
 *                             rank 0      all others  allreduce: the result at position k - 1 is in
 *                                                     its queue
 *   data                      r           r's parent  sums; rank 0's: results, read by all
 * and those of queue.h.
 *
 * Edges     R1 -> A1   a sum                            happens before  the parent's reading it
 *           R2 -> A2   a result                         happens before  the others' copying it out
 *                      the reads of the sums before it  happen before   their writers' next writes
 *                      there
 *
 * Not needed
 *   R2, A2 by reduce/tree: it has no results to be copied out
 *
 * Deadlock freedom
 *   1. allreduce: a rank publishes sums ahead of the results that it has copied out only where its
 *      queue is known to be free, without a wait: others may need what it does after.
 *   2. A rank with nothing of its own under way may wait for acknowledgements: others do not wait
 *      for it.
 * Safety
 *   1. allreduce: a result of fragment k proves that the rank's parent has read its sum of k.
 */
#include "alg/queue/queue.h"
#include "alg/reduction.h"

enum tree_param { TREE_FRAGMENT, TREE_SETS, TREE_BUDGET, TREE_KIND, TREE_DEGREE };

static const struct alg_param tree_params[] = {
    [TREE_FRAGMENT] = { "fragment", "B", "f, bytes published at once; less at a set's end", 1,
                        1 << 24, 16 << 10, NULL, .per_call = true, .tune = "4K,8K,32K" },
    [TREE_SETS] = { "sets", "1",
                    "q, sets of buffers of a queue; no fragment crosses from one into the next", 1,
                    8, 3, NULL },
    [TREE_BUDGET] = { "budget", "B", "b, bytes of each queue; 0: what the lease holds", 0, 1 << 24,
                      96 << 10, NULL },
    [TREE_KIND] = { "tree", "", "who reads whose sums", 0, SHAPE_KINDS - 1, SHAPE_GROUPED,
                    hud_shape_names, .per_call = true, .tune = "nested,flat,knomial,balanced" },
    [TREE_DEGREE] = { "degree", "1", SHAPE_DEGREE_DOC, 2, 64, 4, NULL, .per_call = true,
                      .tune = "2,8" },
    { .name = NULL },
};

static size_t tree_window_bytes(const long *param, int ranks, size_t max_bytes)
{
    (void)ranks;
    return queue_budget_bytes(param[TREE_BUDGET], param[TREE_SETS], max_bytes);
}

static const struct alg_family family = {
    .params = tree_params,
    .window_bytes = tree_window_bytes,
    .lines_bytes = queue_lines_bytes,
};

/* A rank's pass over the fragments, up the tree. */
struct tree_pass {
    struct mem *m;
    const struct coll *c;
    struct shape_tree tree;
    struct shape_ring ring;
    struct queue_slot *mine;
    uint64_t f, free_until;
    bool root;
    struct cursor up;
};

ALG_INLINE struct tree_pass tree_begin(struct mem *m, const struct coll *c, int root)
{
    struct tree_pass w = {
        .m = m, .c = c, .mine = mem_slot(m, mem_rank(m)), .root = mem_rank(m) == root
    };

    w.tree = (struct shape_tree){ (enum shape_kind)c->param[TREE_KIND], (int)c->param[TREE_DEGREE],
                                  mem_size(m), root, c->groups };
    w.ring = queue_ring(c, c->param[TREE_SETS]);
    w.f = ring_units_of((uint64_t)c->param[TREE_FRAGMENT]);
    w.free_until = mem_get(m, &w.mine->free_until);
    w.up = cursor_begin(c, &w.ring, w.f, mem_get(m, &w.mine->at));
    return w;
}

ALG_INLINE void tree_end(struct tree_pass *w)
{
    mem_put(w->m, &w->mine->at, w->up.at.at);
    mem_put(w->m, &w->mine->free_until, w->free_until);
}

/* Where this rank's sum of the fragment is published; waits until nobody reads there any more. */
ALG_INLINE struct mem_span tree_cell(struct tree_pass *w)
{
    if (cursor_end(&w->up) > w->free_until)
        w->free_until = queue_await_free(w->m, &w->ring, &w->up.at);
    return (struct mem_span){ .shared = queue_data(w->m, mem_rank(w->m), &w->up.at) };
}

/* This rank's contribution to a fragment and the children's sums.  All but the root publish the
 * result, which is in their cells. */
ALG_INLINE void tree_reduce_up(struct tree_pass *w, const struct mem_span *to,
                               const struct mem_span *also)
{
    struct sources all;
    int child;

    sources_begin(&all, w->m, w->c, to, w->up.bytes);
    sources_add(&all, (struct mem_span){ .view = w->c->in, .offset_bytes = w->up.done });
    for (int i = 0; (child = hud_shape_child(&w->tree, mem_rank(w->m), i)) >= 0; i++) {
        struct queue_slot *below = mem_slot(w->m, child);
        mem_await(w->m, &below->word[w->up.at.unit], w->up.at.at + 1); /* A1 */
        sources_add(&all, (struct mem_span){ .shared = queue_data(w->m, child, &w->up.at) });
    }
    sources_reduce(&all, to, also);
    if (!w->root)
        mem_post(w->m, &w->mine->word[w->up.at.unit], w->up.at.at + 1); /* R1 */
}

/* ---- reduce/tree ---- */

static void reduce_tree(struct mem *m, const struct coll *c)
{
    struct tree_pass w = tree_begin(m, c, c->root);

    while (!cursor_at_end(c, &w.up)) {
        struct mem_span to =
            w.root ? (struct mem_span){ .view = c->out, .offset_bytes = w.up.done } : tree_cell(&w);
        tree_reduce_up(&w, &to, NULL);
        cursor_advance(c, &w.ring, w.f, &w.up);
        queue_acknowledge(m, &w.ring, &w.up.at);
    }
    tree_end(&w);
}

ALG_DEFINE(reduce, tree) = {
    .coll = "reduce",
    .name = "tree",
    .doc = "fragments are reduced up a tree, by the groups",
    .source = "this project, after papers 04 and 05",
    .family = &family,
    .run = reduce_tree,
};

/* ---- allreduce/tree ---- */

/* Sums that rank 0 has not answered must not make this rank wait: others may need what it does
 * after. */
static bool may_reduce_up(const struct tree_pass *w, const struct cursor *down)
{
    return !cursor_at_end(w->c, &w->up) &&
           (w->up.done == down->done || (!w->root && cursor_end(&w->up) <= w->free_until));
}

static void reduce_up(struct tree_pass *w)
{
    const struct mem_span to = tree_cell(w),
                          out = { .view = w->c->out, .offset_bytes = w->up.done };

    tree_reduce_up(w, &to, w->root ? &out : NULL);
    if (w->root)
        mem_post(w->m, &w->mine->word[w->up.at.unit], w->up.at.at + 1); /* R2 */
    cursor_advance(w->c, &w->ring, w->f, &w->up);
}

static void copy_down(struct tree_pass *w, const struct cursor *down)
{
    struct queue_slot *root = mem_slot(w->m, w->tree.root);
    uint64_t unread = cursor_end(down) + w->ring.units;

    if (w->root)
        return;
    mem_await(w->m, &root->word[down->at.unit], down->at.at + 1); /* A2 */
    mem_out(w->m, w->c->out, queue_data(w->m, w->tree.root, &down->at), down->done, down->bytes);
    w->free_until = unread > w->free_until ? unread : w->free_until;
}

static void allreduce_tree(struct mem *m, const struct coll *c)
{
    struct tree_pass w = tree_begin(m, c, 0);
    struct cursor down = w.up;

    while (!cursor_at_end(c, &down)) {
        while (may_reduce_up(&w, &down))
            reduce_up(&w);
        copy_down(&w, &down);
        cursor_advance(c, &w.ring, w.f, &down);
        queue_acknowledge(m, &w.ring, &down.at);
    }
    tree_end(&w);
}

ALG_DEFINE(allreduce, tree) = {
    .coll = "allreduce",
    .name = "tree",
    .doc = "fragments are reduced up a tree, by the groups, and copied out of rank 0's queue at "
           "the same time",
    .source = "this project, after papers 04 and 05",
    .family = &family,
    .run = allreduce_tree,
};
