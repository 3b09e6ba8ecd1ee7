/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * contributions.c - the family `contributions`: ranks publish their contributions, fragment by
 * fragment, in their own queues; a rank that wants a sum reads them in all queues, from rank 0's
 * on.  allreduce/exchange, reduce_scatter/exchange and reduce/gather differ in a `struct
 * wanted_sum`.  The queue and its acknowledgements: queue.h.
 *
 * Source    this project, after papers 01 (queues of buffers) and 05 (no barriers on the path).
 * Shape     p ranks, n bytes, by fragments of f, which need not end where blocks do; one line
 *           transfer, no second phase.  In an exchange all ranks publish and read; the next
 *           fragment is published before this one is read.  In a gather all but the root publish
 *           and go on.
 * Cost      l ns one line transfer, g one more overlapped line, t ns per byte copied in, t_r per
 *           byte read and reduced, k the largest block:
 *             allreduce       T = l + n (t + p t_r) + ceil(n/f) (p - 1) g
 *             reduce_scatter  T = l + n t + k p t_r + ceil(n/f) l + (p - 1) g
 *             reduce          T = l + f t + n max(t, p t_r) + ceil(n/f) (p - 1) g
 *           traffic beyond n in and out: allreduce (p + 1) n; reduce_scatter writes n - k and
 *           reads (p - 1) k, in place or if p > MEM_SOURCES writes n and reads p k; reduce writes
 *           n, and the root reads (p - 1) n
 * Accepts   any n, any root, if the lease has a window.
 *
 * Line                      written by   read by          value k means
 *   slot[r].word[k % units]   r            who reduces      r's contribution at position k - 1 is
 *                                                           in its queue
 *   data                      r            who reduces      contributions
 * and those of queue.h.
 *
 * Edges     R1 -> A1   a rank's copy-in        happens before  the reading of it
 *                      a rank's earlier reads  happen before   the next write there by those who
 *                                                              read what it publishes
 *
 * Deadlock freedom
 *   1. A rank publishes ahead of what it has read only if that needs no wait: others may wait for
 *      it to read.
 * Safety
 *   1. A rank that has published a fragment has finished all before the one before it.  So one
 *      that reads all fragments never waits for acknowledgements, unless a fragment is more than a
 *      third of the queue.
 *   2. reduce_scatter in place: `out` is the beginning of `in` and overlaps the rank's own block,
 *      so its contribution is read in the queue.  What is written to `out` is at or before the
 *      same bytes of the message, and these have been published.
 */
#include "alg/queue/queue.h"
#include "alg/reduction.h"

enum param { FRAGMENT, SETS, BUDGET };

static const struct alg_param params[] = {
    [FRAGMENT] = { "fragment", "B", "f, bytes published at once; less at a set's end", 1, 1 << 24,
                   32 << 10, NULL, .per_call = true, .tune = "8K,16K,64K" },
    [SETS] = { "sets", "1",
               "q, sets of buffers of a queue; no fragment crosses from one into the next", 1, 8, 3,
               NULL },
    [BUDGET] = { "budget", "B", "b, bytes of each queue; 0: what the lease holds", 0, 1 << 24,
                 96 << 10, NULL, .tune = "24K,192K" },
    { .name = NULL },
};

static size_t window_bytes(const long *param, int ranks, size_t max_bytes)
{
    (void)ranks;
    return queue_budget_bytes(param[BUDGET], param[SETS], max_bytes);
}

static const struct alg_family family = {
    .params = params,
    .window_bytes = window_bytes,
    .lines_bytes = queue_lines_bytes,
};

/* Bytes of the message. */
struct byte_range {
    size_t begin, end;
};

/* The part of the sum that a rank wants, in `out` from its beginning on. */
struct wanted_sum {
    struct byte_range part;
    struct byte_range unpublished; /* of its contribution: nobody else wants it */
    bool stays;                    /* its contribution stays where it is until it is read there */
};

/* The bytes of a range that are in the fragment at w. */
static struct byte_range range_within(const struct cursor *w, struct byte_range part)
{
    size_t end = w->done + w->bytes < part.end ? w->done + w->bytes : part.end;

    return (struct byte_range){ w->done > part.begin ? w->done : part.begin, end };
}

static char *contribution_data(struct mem *m, const struct cursor *w, int rank, size_t at)
{
    return queue_data(m, rank, &w->at) + (at - w->done);
}

ALG_INLINE void publish_range(struct mem *m, const struct coll *c, const struct cursor *w,
                              struct byte_range part)
{
    part = range_within(w, part);
    if (part.begin < part.end)
        mem_in_all(m, contribution_data(m, w, mem_rank(m), part.begin), c->in, part.begin,
                   part.end - part.begin);
}

/* Publishes the fragment at w, where nobody reads any more. */
ALG_INLINE void publish_fragment(struct mem *m, const struct coll *c, const struct cursor *w,
                                 const struct wanted_sum *want)
{
    struct queue_slot *mine = mem_slot(m, mem_rank(m));

    publish_range(m, c, w, (struct byte_range){ 0, want->unpublished.begin });
    publish_range(m, c, w, (struct byte_range){ want->unpublished.end, c->bytes });
    mem_post(m, &mine->word[w->at.unit], w->at.at + 1); /* R1 */
}

/* Reduces what all publish at w of the sum that this rank wants; false: nothing. */
ALG_INLINE bool reduce_wanted(struct mem *m, const struct coll *c, const struct cursor *w,
                              const struct wanted_sum *want)
{
    struct byte_range part = range_within(w, want->part);
    const struct mem_span own = { .view = c->in, .offset_bytes = part.begin };
    const struct mem_span out = { .view = c->out, .offset_bytes = part.begin - want->part.begin };
    struct sources all;

    if (part.begin >= part.end)
        return false;
    sources_begin(&all, m, c, &out, part.end - part.begin);
    for (int r = 0; r < mem_size(m); r++) {
        struct queue_slot *slot = mem_slot(m, r);
        if (r != mem_rank(m))
            mem_await(m, &slot->word[w->at.unit], w->at.at + 1); /* A1 */
        bool stays = r == mem_rank(m) && want->stays;
        sources_add(&all,
                    stays ? own
                          : (struct mem_span){ .shared = contribution_data(m, w, r, part.begin) });
    }
    sources_reduce(&all, &out, NULL);
    return true;
}

struct exchange {
    struct mem *m;
    const struct coll *c;
    const struct wanted_sum *want;
    struct shape_ring ring;
    uint64_t f, free_until;
    uint64_t acknowledged; /* by all that have published the fragment that is read next */
    struct cursor publish, read;
};

ALG_INLINE void publish_next(struct exchange *x)
{
    if (cursor_end(&x->publish) > x->free_until)
        x->free_until = queue_await_free(x->m, &x->ring, &x->publish.at);
    publish_fragment(x->m, x->c, &x->publish, x->want);
    cursor_advance(x->c, &x->ring, x->f, &x->publish);
}

ALG_INLINE void reduce_next(struct exchange *x)
{
    if (reduce_wanted(x->m, x->c, &x->read, x->want))
        x->free_until = x->acknowledged + x->ring.units > x->free_until
                            ? x->acknowledged + x->ring.units
                            : x->free_until;
    x->acknowledged = x->read.at.at;
    cursor_advance(x->c, &x->ring, x->f, &x->read);
}

/* One fragment more may be published than has been read, but without a wait: others may be waiting
 * for this rank to read. */
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
    struct shape_ring ring = queue_ring(c, c->param[SETS]);
    struct exchange x = {
        .m = m, .c = c, .want = want, .ring = ring, .f = ring_units_of((uint64_t)c->param[FRAGMENT])
    };

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
    publish_and_reduce(
        m, c, &(struct wanted_sum){ .part = { 0, c->bytes }, .stays = contribution_stays(m) });
}

ALG_DEFINE(allreduce, exchange) = {
    .coll = "allreduce",
    .name = "exchange",
    .doc = "every rank shows its contribution in its own queue and reduces all of them",
    .source = "this project, after papers 01 and 05",
    .ordered = true,
    .family = &family,
    .run = allreduce_exchange,
};

/* ---- reduce_scatter/exchange ---- */

static void reduce_scatter_exchange(struct mem *m, const struct coll *c)
{
    struct wanted_sum own = { .stays = contribution_stays(m) && !coll_in_place(c) };

    for (int r = 0; r < mem_rank(m); r++)
        own.part.begin += c->block_bytes[r];
    own.part.end = own.part.begin + c->block_bytes[mem_rank(m)];
    own.unpublished = own.stays ? own.part : (struct byte_range){ 0, 0 };
    publish_and_reduce(m, c, &own);
}

ALG_DEFINE(reduce_scatter, exchange) = {
    .coll = "reduce_scatter",
    .name = "exchange",
    .doc = "every rank publishes its contribution in its own queue and reduces its block of all of "
           "them",
    .source = "this project, after papers 01 and 05",
    .ordered = true,
    .family = &family,
    .run = reduce_scatter_exchange,
};

/* ---- reduce/gather ---- */

static void reduce_gather(struct mem *m, const struct coll *c)
{
    struct shape_ring ring = queue_ring(c, c->param[SETS]);
    struct queue_slot *mine = mem_slot(m, mem_rank(m));
    bool root = mem_rank(m) == c->root, publishes = !root || !contribution_stays(m);
    const struct wanted_sum all = { .part = { 0, c->bytes }, .stays = contribution_stays(m) };
    uint64_t free_until = mem_get(m, &mine->free_until),
             f = ring_units_of((uint64_t)c->param[FRAGMENT]);
    struct cursor w = cursor_begin(c, &ring, f, mem_get(m, &mine->at));

    while (!cursor_at_end(c, &w)) {
        if (publishes && cursor_end(&w) > free_until)
            free_until = queue_await_free(m, &ring, &w.at);
        if (publishes)
            publish_fragment(m, c, &w, &all);
        if (root)
            reduce_wanted(m, c, &w, &all);
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
    .doc = "ranks show their contributions in their own queues, the root reduces all of them",
    .source = "this project, after papers 01 and 05",
    .ordered = true,
    .family = &family,
    .run = reduce_gather,
};
