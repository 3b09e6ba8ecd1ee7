/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reduce/tree.c - fragments are reduced up a tree that ends at the root (tree.h), each rank a
 * fragment behind those below it.
 *
 * Source    this project, after papers 04 (pipelined trees) and 05 (no barriers on the path).
 * Shape     p ranks, n bytes, by fragments of f; a rank of c children reads c fragments and its
 *           own, all but the root write one.
 * Cost      T = d (l + (c - 1) g + f (c + 1) t) + (n - f) (c + 1) t    ns; d the depth of the tree,
 *           c its degree, l one line transfer, g one more overlapped line, t ns per byte read and
 *           reduced traffic: c n read and n written, at the root c n read
 * Accepts   any n, any root, if the lease has a window.
 */
#include "alg/tree.h"

static void run(struct mem *m, const struct coll *c)
{
    struct tree_way w = tree_begin(m, c, c->root);

    while (!walk_ended(c, &w.up)) {
        struct mem_span to = w.root
                                 ? (struct mem_span){ .view = &c->out, .offset_bytes = w.up.done }
                                 : tree_cell(&w);
        tree_climb(&w, &to, NULL);
        walk_on(c, &w.ring, w.f, &w.up);
        walk_leave(m, &w.ring, &w.up.at);
    }
    tree_end(&w);
}

ALG_DEFINE(reduce, tree) = {
    .coll = "reduce",
    .name = "tree",
    .doc = "fragments are reduced up a tree, by the groups",
    .source = "this project, after papers 04 and 05",
    .family = "trees",
    .params = tree_params,
    .slot_bytes = tree_slot_bytes,
    .run = run,
};
