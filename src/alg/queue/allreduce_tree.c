/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * allreduce_tree.c - allreduce/tree: sums go up a tree to rank 0 (tree.h), which publishes results
 * in its queue, where all others copy them out.  Both directions are active at the same time.
 *
 * Shape     p ranks, n bytes, in fragments of f; a rank with c children reads c fragments and its
 *           own and writes one; all copy rank 0's results out.
 * Cost      T = d (l + (c - 1) g + f (c + 1) t) + l + (p - 2) g + f t + (n - f) (c + 2) t
 *           traffic: c n read, n written, n more read
 * Returned  lines of results, if there are two ranks (mem_out_as).
 *
 * Line                        written by  read by     value k means
 *   slot[0].word[k % units]   rank 0      all others  the result at position k - 1 is in its queue
 *   data                      rank 0      all others  results
 * The other lines are in tree.h.
 *
 * Edges     R2 -> A2   a result                         happens before  the others' copying it out
 *                      the reads of the sums before it  happen before   their writers' next writes
 *                      there
 *
 * Deadlock freedom
 *   1. A rank publishes sums ahead of the results that it has copied out only if its queue is known
 *      to be free, without a wait, because others may need its later actions.
 *   2. A rank without an unanswered sum may wait for acknowledgements, because others do not wait
 *      for it.
 * Safety
 *   1. A result of fragment k proves that the rank's parent has read its sum of k.
 */
#include "alg/queue/tree.h"

/* Reports whether this rank may publish its next sum now.  Sums for which rank 0 has not published
 * results must not make this rank wait, because others may need its later actions. */
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

/* Copies a result out.  With two ranks, this rank is the last reader of rank 0's queue. */
static void copy_down(struct tree_pass *w, const struct cursor *down)
{
    struct queue_slot *root = mem_slot(w->m, w->tree.root);
    const void *result = queue_data(w->m, w->tree.root, &down->at);
    uint64_t unread = cursor_end(down) + w->ring.units;
    bool alone = mem_size(w->m) == 2;

    if (w->root)
        return;
    mem_await(w->m, &root->word[down->at.unit], down->at.at + 1); /* A2 */
    mem_out_as(w->m, w->c->out, result, down->done, down->bytes, alone);
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
    .doc = "a tree of ranks reduces fragments up to rank 0; meanwhile all ranks copy results from "
           "rank 0's queue",
    .source = "this project, after papers 04 and 05",
    .family = &HUD_BACKEND(tree_family),
    .run = allreduce_tree,
};
