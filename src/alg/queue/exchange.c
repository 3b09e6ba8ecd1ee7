/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * exchange.c - allreduce/exchange and reduce_scatter/exchange: all ranks publish their
 * contributions and read the contributions of all (contributions.h).  The next fragment is
 * published before the current fragment is read.
 *
 * Cost      k the largest block:
 *             allreduce       T = l + n (t + p t_r) + ceil(n/f) (p - 1) g
 *             reduce_scatter  T = l + n t + k p t_r + ceil(n/f) l + (p - 1) g
 *           traffic: allreduce (p + 1) n; reduce_scatter writes n - k and reads (p - 1) k, in place
 *           or if p > MEM_SOURCES writes n and reads p k
 *
 * Deadlock freedom
 *   1. A rank publishes ahead of the fragments that it has read only if it need not wait for this,
 *      because others may wait for it to read.
 * Safety
 *   1. A rank that has published a fragment has finished all fragments before the previous one.  So
 *      a rank that reads all fragments never waits for acknowledgements, unless a fragment is more
 *      than a third of the queue.
 *   2. reduce_scatter in place: `out` is the beginning of `in` and overlaps the rank's own block,
 *      so its contribution is read in the queue.  Bytes written to `out` are at or before the same
 *      bytes of the message, which have been published.
 */
#include "alg/queue/contributions.h"

struct exchange {
    struct mem *m;
    const struct coll *c;
    const struct wanted_sum *want;
    struct shape_ring ring;
    uint64_t f, free_until;
    uint64_t acknowledged; /* position acknowledged by all ranks that have published the fragment
                              that is read next */
    struct cursor publish, read;
};

ALG_INLINE void publish_next(struct exchange *x)
{
    if (cursor_end(&x->publish) > x->free_until)
        x->free_until = queue_await_free(x->m, &x->ring, &x->publish.at);
    contribution_publish(x->m, x->c, &x->publish, x->want);
    cursor_advance(x->c, &x->ring, x->f, &x->publish);
}

ALG_INLINE void reduce_next(struct exchange *x)
{
    if (contribution_reduce(x->m, x->c, &x->read, x->want))
        x->free_until = x->acknowledged + x->ring.units > x->free_until
                            ? x->acknowledged + x->ring.units
                            : x->free_until;
    x->acknowledged = x->read.at.at;
    cursor_advance(x->c, &x->ring, x->f, &x->read);
}

/* Reports whether the next fragment may be published.  A rank may be a fragment ahead of its reads,
 * but only without a wait, because others may be waiting for this rank to read. */
static bool may_publish(const struct exchange *x)
{
    return !cursor_at_end(x->c, &x->publish) &&
           (x->publish.done == x->read.done || (x->publish.done == x->read.done + x->read.bytes &&
                                                cursor_end(&x->publish) <= x->free_until));
}

ALG_INLINE void publish_and_reduce(struct mem *m, const struct coll *c,
                                   const struct wanted_sum *want)
{
    struct queue_slot *mine = mem_slot(m, mem_rank(m));
    struct shape_ring ring = queue_ring(c, c->param[CONTRIBUTIONS_SETS]);
    struct exchange x = { .m = m, .c = c, .want = want, .ring = ring, .f = contribution_units(c) };

    x.acknowledged = mem_get(m, &mine->at);
    x.free_until = mem_get(m, &mine->free_until);
    x.publish = x.read = cursor_begin(c, &x.ring, x.f, x.acknowledged);
    while (!cursor_at_end(c, &x.read)) {
        while (may_publish(&x))
            publish_next(&x);
        reduce_next(&x);
        queue_acknowledge(m, &x.ring, &x.read.at);
    }
    mem_put(m, &mine->at, x.read.at.at);
    mem_put(m, &mine->free_until, x.free_until);
    queue_prefetch(m, c, &x.publish.at);
}

/* ---- allreduce/exchange ---- */

static void allreduce_exchange(struct mem *m, const struct coll *c)
{
    publish_and_reduce(m, c,
                       &(struct wanted_sum){ .part = { 0, c->bytes },
                                             .alone = mem_size(m) == 2,
                                             .stays = contribution_stays(m) });
}

ALG_DEFINE(allreduce, exchange) = {
    .coll = "allreduce",
    .name = "exchange",
    .doc = "every rank publishes its contribution in its own queue and reduces all contributions",
    .source = "this project, after papers 01 and 05",
    .ordered = true,
    .family = &HUD_BACKEND(contributions_family),
    .run = allreduce_exchange,
};

/* ---- reduce_scatter/exchange ---- */

static void reduce_scatter_exchange(struct mem *m, const struct coll *c)
{
    struct wanted_sum own = { .alone = true, .stays = contribution_stays(m) && !coll_in_place(c) };

    for (int r = 0; r < mem_rank(m); r++)
        own.part.begin += c->block_bytes[r];
    own.part.end = own.part.begin + c->block_bytes[mem_rank(m)];
    own.unpublished = own.stays ? own.part : (struct byte_range){ 0, 0 };
    publish_and_reduce(m, c, &own);
}

ALG_DEFINE(reduce_scatter, exchange) = {
    .coll = "reduce_scatter",
    .name = "exchange",
    .doc = "every rank publishes its contribution in its own queue and reduces its block of all "
           "contributions",
    .source = "this project, after papers 01 and 05",
    .ordered = true,
    .family = &HUD_BACKEND(contributions_family),
    .run = reduce_scatter_exchange,
};
