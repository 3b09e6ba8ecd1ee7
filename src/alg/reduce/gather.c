/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reduce/gather.c - the root reads the contributions of all, from rank 0's on, straight into its result.
 *
 * Source    this project, after papers 01 (queues of buffers) and 05 (no barriers on the path).
 * Shape     p ranks, n bytes, by fragments of f.  All but the root copy a fragment into their own queues and go on; the root reads it in all queues.
 * Cost      T = l + f t + n max(t, p t_r) + ceil(n/f) (p - 1) g    ns; l one line transfer, t ns per byte copied in, t_r per byte read and reduced, g one
 *           more overlapped line
 *           traffic: n written; at the root (p - 1) n read
 * Accepts   any n, any root, if the lease has a window.
 *
 * Positions (shape/ring.h) count over all operations of the slot, which allreduce/exchange has in common with this.  Of more ranks than one reduction reads
 * the result grows in the root's `out`, so that its own contribution, too, goes through its queue.
 *
 * Line                      written by   read by       value k means
 *   slot[r].word[k % units]   r            the root      r's contribution at position k - 1 is in its queue
 *   data                      r            the root      contributions
 * and those of walk.h.
 *
 * Edges     R1 -> A1   a rank's copy-in  happens before  the root's reading it
 */
#include "alg/walk.h"

/* The root's own contribution comes from its view, or, where it had to be copied, from its queue. */
static void gather(struct mem *m, const struct coll *c, const struct shape_ring *ring, const struct walk *w, bool copied)
{
    const struct mem_span in = { .view = &c->in, .offset_bytes = w->done }, out = { .view = &c->out, .offset_bytes = w->done };
    struct mem_span from[MEM_SOURCES];
    int count = 0;

    for (int r = 0; r < mem_size(m); r++) {
        struct queue_slot *slot = mem_slot(m, r);
        if (r != c->root)
            mem_await(m, &slot->word[w->at.unit], w->at.at + 1); /* A1 */
        from[count++] = r == c->root && !copied ? in : (struct mem_span){ .shared = queue_data(slot, ring, &w->at) };
        if (count == MEM_SOURCES || r == mem_size(m) - 1) {
            mem_reduce(m, c->reduction, &out, NULL, from, count, w->bytes);
            from[0] = out;
            count = 1;
        }
    }
}

static void run(struct mem *m, const struct coll *c)
{
    struct shape_ring ring = queue_ring(c->slot_bytes, c->param[WALK_SETS]);
    struct queue_slot *mine = mem_slot(m, mem_rank(m));
    bool root = mem_rank(m) == c->root, copies = !root || mem_size(m) > MEM_SOURCES;
    uint64_t entered = mem_get(m, &mine->entered), f = ring_units_of((uint64_t)c->param[WALK_FRAGMENT]);
    struct walk w = walk_begin(c, &ring, f, mem_get(m, &mine->at));

    while (!walk_ended(c, &w)) {
        if (copies && walk_end(&w) > entered)
            entered = walk_enter(m, &ring, &w.at);
        if (copies)
            contribution_in(m, c, queue_data(mine, &ring, &w.at), w.done, w.bytes);
        if (root)
            gather(m, c, &ring, &w, copies);
        else
            mem_post(m, &mine->word[w.at.unit], w.at.at + 1); /* R1 */
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
    .params = walk_params,
    .slot_bytes = walk_slot_bytes,
    .run = run,
};
