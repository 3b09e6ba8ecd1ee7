/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * allreduce/tree.c - fragments are reduced up a tree to rank 0 (tree.h), which shows the result to
 * all; up and down go at the same time.
 *
 * Source    this project, after papers 04 (pipelined trees) and 05 (no barriers on the path).
 * Shape     p ranks, n bytes, by fragments of f; a rank of c children reads c fragments and its own
 *           and writes one; then all copy rank 0's out.
 * Cost      T = d (l + (c - 1) g + f (c + 1) t) + l + (p - 2) g + f t + (n - f) (c + 2) t    ns; d
 *           the depth of the tree, c its degree, l one line transfer, g one more overlapped line, t
 *           ns per byte read and reduced, or copied traffic: c n read, n written, n read
 * Accepts   any n, if the lease has a window.
 *
 * Lines as in tree.h; all others read rank 0's.  A rank shows sums ahead of the results it has
 * copied out as far as its queue is known to be free: a result tells that its parent has read its
 * sum.  Whoever has nothing of its own under way may wait for others to leave, since they do not
 * wait for it.
 *
 * Edges     R1 -> A1   a result                         happens before  the others' copying it out
 *                      the reads of the sums before it  happen before   their writers' next writes
 *                      there
 */
#include "alg/tree.h"

/* Sums that rank 0 has not answered must not make this rank wait: others may need what it does
 * after. */
static bool may_climb(const struct tree_way *w, const struct walk *down)
{
    return !walk_ended(w->c, &w->up) &&
           (w->up.done == down->done || (!w->root && walk_end(&w->up) <= w->entered));
}

static void climb(struct tree_way *w)
{
    const struct mem_span to = tree_cell(w),
                          out = { .view = &w->c->out, .offset_bytes = w->up.done };

    tree_climb(w, &to, w->root ? &out : NULL);
    if (w->root)
        mem_post(w->m, &w->mine->word[w->up.at.unit], w->up.at.at + 1); /* R1 */
    walk_on(w->c, &w->ring, w->f, &w->up);
}

static void descend(struct tree_way *w, const struct walk *down)
{
    struct queue_slot *root = mem_slot(w->m, w->tree.root);
    uint64_t unread = walk_end(down) + w->ring.units;

    if (w->root)
        return;
    mem_await(w->m, &root->word[down->at.unit], down->at.at + 1); /* A1 */
    mem_out(w->m, &w->c->out, queue_data(root, &w->ring, &down->at), down->done, down->bytes);
    w->entered = unread > w->entered ? unread : w->entered;
}

static void run(struct mem *m, const struct coll *c)
{
    struct tree_way w = tree_begin(m, c, 0);
    struct walk down = w.up;

    while (!walk_ended(c, &down)) {
        while (may_climb(&w, &down))
            climb(&w);
        descend(&w, &down);
        walk_on(c, &w.ring, w.f, &down);
        walk_leave(m, &w.ring, &down.at);
    }
    tree_end(&w);
}

ALG_DEFINE(allreduce, tree) = {
    .coll = "allreduce",
    .name = "tree",
    .doc = "fragments are reduced up a tree, by the groups, and copied out of rank 0's queue at "
           "the same time",
    .source = "this project, after papers 04 and 05",
    .family = "trees",
    .params = tree_params,
    .slot_bytes = tree_slot_bytes,
    .run = run,
};
