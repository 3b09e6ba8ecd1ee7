/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reduce_tree.c - reduce/tree: sums go up a tree to the root (tree.h).
 *
 * Shape     p ranks, n bytes, in fragments of f; a rank with c children reads c fragments and its
 *           own and writes one; the root writes the sum to its buffer.
 * Cost      T = d (l + (c - 1) g + f (c + 1) t) + (n - f) (c + 1) t
 *           traffic: c n read, n written
 * Deadlock  Of the ranks at the earliest position, the rank deepest in the tree waits for no other
 *           rank: the sums of its children are there, and all have acknowledged the set's old
 *           contents.
 */
#include "alg/queue/tree.h"

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
    .doc = "a tree of ranks, built from the groups, reduces fragments up to the root",
    .source = "this project, after papers 04 and 05",
    .family = &HUD_BACKEND(tree_family),
    .run = reduce_tree,
};
