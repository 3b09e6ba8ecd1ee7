/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gather.c - reduce/gather: all ranks but the root publish their contributions and continue; the
 * root reads the contributions of all (contributions.h).
 *
 * Cost      T = l + f t + n max(t, p t_r) + ceil(n/f) (p - 1) g
 *           traffic: writes n, and the root reads (p - 1) n
 * Deadlock  The root waits for contributions to its own operation.  The others wait only for room
 *           in their queues: until roots have read their earlier contributions.
 */
#include "alg/queue/contributions.h"

static void reduce_gather(struct mem *m, const struct coll *c)
{
    struct shape_ring ring = queue_ring(c, c->param[CONTRIBUTIONS_SETS]);
    struct queue_slot *mine = mem_slot(m, mem_rank(m));
    bool root = mem_rank(m) == c->root, publishes = !root || !contribution_stays(m);
    const struct wanted_sum all = { .part = { 0, c->bytes },
                                    .alone = true,
                                    .stays = contribution_stays(m) };
    uint64_t free_until = mem_get(m, &mine->free_until), f = contribution_units(c);
    struct cursor w = cursor_begin(c, &ring, f, mem_get(m, &mine->at));

    while (!cursor_at_end(c, &w)) {
        if (publishes && cursor_end(&w) > free_until)
            free_until = queue_await_free(m, &ring, &w.at);
        if (publishes)
            contribution_publish(m, c, &w, &all);
        if (root)
            contribution_reduce(m, c, &w, &all);
        cursor_advance(c, &ring, f, &w);
        queue_acknowledge(m, &ring, &w.at);
    }
    mem_put(m, &mine->at, w.at.at);
    mem_put(m, &mine->free_until, free_until);
    if (!root)
        queue_prefetch(m, c, &w.at);
}

ALG_DEFINE(reduce, gather) = {
    .coll = "reduce",
    .name = "gather",
    .doc = "every rank publishes its contribution in its own queue; the root reduces all "
           "contributions",
    .source = "this project, after papers 01 and 05",
    .ordered = true,
    .family = &HUD_BACKEND(contributions_family),
    .run = reduce_gather,
};
