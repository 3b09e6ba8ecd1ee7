/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tree.h - the family `trees`: fragments are reduced up a tree.  A rank reads the fragment of all
 * its children at once, adds its own, and shows the sum in its queue.
 *
 * Line                      written by   read by      value k means
 *   slot[r].word[k % units]   r            r's parent   the sum over r and all below it at position
 *                                                       k - 1 is in r's queue
 *   data                      r            r's parent   sums
 * and those of walk.h.
 *
 * Edges     R1 -> A1   a sum  happens before  the parent's reading it
 */
#ifndef HUD_ALG_TREE_H
#define HUD_ALG_TREE_H

#include "alg/sources.h"
#include "alg/walk.h"

enum tree_param { TREE_FRAGMENT, TREE_SETS, TREE_BUDGET, TREE_KIND, TREE_DEGREE };

static const struct alg_param tree_params[] = {
    [TREE_FRAGMENT] = { "fragment", "B", "f, bytes shown at once; less at a set's end", 1, 1 << 24,
                        16 << 10, NULL, .per_call = true, .tune = "4K,8K,32K" },
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

static inline size_t tree_slot_bytes(const long *param, int ranks, size_t max_bytes)
{
    (void)ranks;
    return walk_slot_bytes(param[TREE_BUDGET], param[TREE_SETS], max_bytes);
}

/* A rank on its way up. */
struct tree_way {
    struct mem *m;
    const struct coll *c;
    struct shape_tree tree;
    struct shape_ring ring;
    struct queue_slot *mine;
    uint64_t f, entered;
    bool root;
    struct walk up;
};

static inline struct tree_way tree_begin(struct mem *m, const struct coll *c, int root)
{
    struct tree_way w = {
        .m = m, .c = c, .mine = mem_slot(m, mem_rank(m)), .root = mem_rank(m) == root
    };

    w.tree = (struct shape_tree){ (enum shape_kind)c->param[TREE_KIND], (int)c->param[TREE_DEGREE],
                                  mem_size(m), root, c->groups };
    w.ring = queue_ring(c->slot_bytes, c->param[TREE_SETS]);
    w.f = ring_units_of((uint64_t)c->param[TREE_FRAGMENT]);
    w.entered = mem_get(m, &w.mine->entered);
    w.up = walk_begin(c, &w.ring, w.f, mem_get(m, &w.mine->at));
    return w;
}

static inline void tree_end(struct tree_way *w)
{
    mem_put(w->m, &w->mine->at, w->up.at.at);
    mem_put(w->m, &w->mine->entered, w->entered);
}

/* Where this rank's sum of the fragment goes, if it is shown; waits until nobody reads there any
 * more. */
static inline struct mem_span tree_cell(struct tree_way *w)
{
    if (walk_end(&w->up) > w->entered)
        w->entered = walk_enter(w->m, &w->ring, &w->up.at);
    return (struct mem_span){ .shared = queue_data(w->mine, &w->ring, &w->up.at) };
}

/* The own contribution to a fragment and the children's sums.  All but the root show the result,
 * which is in their cells. */
static inline void tree_climb(struct tree_way *w, const struct mem_span *to,
                              const struct mem_span *also)
{
    struct sources all;
    int child;

    sources_begin(&all, w->m, w->c, to, w->up.bytes);
    sources_add(&all, (struct mem_span){ .view = &w->c->in, .offset_bytes = w->up.done });
    for (int i = 0; (child = hud_shape_child(&w->tree, mem_rank(w->m), i)) >= 0; i++) {
        struct queue_slot *below = mem_slot(w->m, child);
        mem_await(w->m, &below->word[w->up.at.unit], w->up.at.at + 1); /* A1 */
        sources_add(&all, (struct mem_span){ .shared = queue_data(below, &w->ring, &w->up.at) });
    }
    sources_reduce(&all, to, also);
    if (!w->root)
        mem_post(w->m, &w->mine->word[w->up.at.unit], w->up.at.at + 1); /* R1 */
}

#endif
