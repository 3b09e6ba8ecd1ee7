/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tree.h - the family `trees`: fragments are reduced up a tree.  A rank reads the fragment of all
 * its children at once, adds its own, and publishes the sum in its queue.  reduce_tree.c ends at
 * the root.  In allreduce_tree.c, rank 0 publishes the result to all, and both directions are
 * active at the same time.  The queue: queue.h; its acknowledgements: cursor.h.
 *
 * Source    this project, after papers 04 (pipelined trees) and 05 (no barriers on the path).
 * Shape     p ranks, n bytes, in fragments of f; a rank with c children reads c fragments and its
 *           own and writes one.
 * Cost      of each collective in its file: d the depth of the tree, c its degree, l ns one line
 *           transfer, g one more overlapped line, t ns per byte read and reduced, or copied.
 * Returned  lines of sums, by the parent (mem_reduce_as).
 * Accepts   any n, any root, if the lease has a window.
 *
 * Line                        written by  read by     value k means
 *   slot[r].word[k % units]   r           r's parent  the sum over r and all below it at position
 *                                                     k - 1 is in r's queue
 *   data                      r           r's parent  sums
 * The other lines are in queue.h.
 *
 * Edges     R1 -> A1   a sum  happens before  the parent's reading it
 */
#ifndef HUD_ALG_TREE_H
#define HUD_ALG_TREE_H

#include "alg/queue/cursor.h"
#include "alg/reduction.h"

enum tree_param { TREE_FRAGMENT, TREE_SETS, TREE_BUDGET, TREE_KIND, TREE_DEGREE };

extern const struct alg_family HUD_BACKEND(tree_family);

/* A pass of a rank over the fragments, up the tree. */
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

    w.tree = coll_tree(m, c, root, TREE_KIND, TREE_DEGREE);
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

/* Returns where this rank's sum of the fragment is published, after waiting until no rank reads the
 * old contents any more. */
ALG_INLINE struct mem_span tree_cell(struct tree_pass *w)
{
    if (cursor_end(&w->up) > w->free_until)
        w->free_until = queue_await_free(w->m, &w->ring, &w->up.at);
    return (struct mem_span){ .shared = queue_data(w->m, mem_rank(w->m), &w->up.at) };
}

/* Reduces this rank's contribution to a fragment and the children's sums.  Every rank but the root
 * publishes the result, which is in its queue. */
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
    sources_reduce_as(&all, to, also, true);
    if (!w->root)
        mem_post(w->m, &w->mine->word[w->up.at.unit], w->up.at.at + 1); /* R1 */
}

#endif
