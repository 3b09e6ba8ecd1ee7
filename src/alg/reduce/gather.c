/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reduce/gather.c - the root reads the contributions of all, from rank 0's on, straight into its
 * result.
 *
 * Source    this project, after papers 01 (queues of buffers) and 05 (no barriers on the path).
 * Shape     p ranks, n bytes, by fragments of f.  All but the root copy a fragment into their own
 *           queues and go on; the root reads it in all queues.
 * Cost      T = l + f t + n max(t, p t_r) + ceil(n/f) (p - 1) g    ns; l one line transfer, t ns
 *           per byte copied in, t_r per byte read and reduced, g one more overlapped line traffic:
 *           n written; at the root (p - 1) n read
 * Accepts   any n, any root, if the lease has a window.
 *
 * Positions (shape/ring.h) count over all operations of the slot, which the others of the family
 * have in common with this.  Lines and edges: alg/show.h.
 */
#include "alg/show.h"

static void run(struct mem *m, const struct coll *c)
{
    struct shape_ring ring = queue_ring(c->slot_bytes, c->param[SHOW_SETS]);
    struct queue_slot *mine = mem_slot(m, mem_rank(m));
    bool root = mem_rank(m) == c->root, shows = !root || !contribution_stays(m);
    const struct show_want all = { .part = { 0, c->bytes }, .stays = contribution_stays(m) };
    uint64_t entered = mem_get(m, &mine->entered),
             f = ring_units_of((uint64_t)c->param[SHOW_FRAGMENT]);
    struct walk w = walk_begin(c, &ring, f, mem_get(m, &mine->at));

    while (!walk_ended(c, &w)) {
        if (shows && walk_end(&w) > entered)
            entered = walk_enter(m, &ring, &w.at);
        if (shows)
            show_fragment(m, c, &ring, &w, &all);
        if (root)
            show_reduce(m, c, &ring, &w, &all);
        walk_on(c, &ring, f, &w);
        walk_leave(m, &ring, &w.at);
    }
    mem_put(m, &mine->at, w.at.at);
    mem_put(m, &mine->entered, entered);
    if (!root)
        walk_claim(m, c, &ring, &w.at);
}

ALG_DEFINE(reduce, gather) = {
    .coll = "reduce",
    .name = "gather",
    .doc = "ranks show their contributions in their own queues, the root reduces all of them",
    .source = "this project, after papers 01 and 05",
    .ordered = true,
    .family = "contributions",
    .params = show_params,
    .slot_bytes = show_slot_bytes,
    .run = run,
};
