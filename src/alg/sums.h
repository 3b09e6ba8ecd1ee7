/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sums.h - allreduce/exchange and reduce_scatter/exchange: every rank shows its contribution in its
 * own queue, and reduces what it wants of it, all or its own block, out of all queues.  The next
 * fragment is shown before this one is read.
 *
 * Who has shown a fragment has left all before the one before it: so who reads all fragments never
 * waits for `left`, unless one is more than a third of the queue.
 *
 * Lines and edges are show.h's.
 */
#ifndef HUD_ALG_SUMS_H
#define HUD_ALG_SUMS_H

#include "alg/show.h"

struct sums {
    struct mem *m;
    const struct coll *c;
    const struct show_want *want;
    struct shape_ring ring;
    uint64_t f, entered, left; /* `left`: by all who have shown the fragment that is read next */
    struct walk show, read;
};

static inline void sums_show(struct sums *x)
{
    if (walk_end(&x->show) > x->entered)
        x->entered = walk_enter(x->m, &x->ring, &x->show.at);
    show_fragment(x->m, x->c, &x->ring, &x->show, x->want);
    walk_on(x->c, &x->ring, x->f, &x->show);
}

static inline void sums_read(struct sums *x)
{
    if (show_reduce(x->m, x->c, &x->ring, &x->read, x->want))
        x->entered = x->left + x->ring.units > x->entered ? x->left + x->ring.units : x->entered;
    x->left = x->read.at.at;
    walk_on(x->c, &x->ring, x->f, &x->read);
}

/* One fragment more may be shown than has been read, but not at the price of a wait: others may be
 * waiting for this rank to read. */
static inline bool sums_may_show(const struct sums *x)
{
    return !walk_ended(x->c, &x->show) &&
           (x->show.done == x->read.done ||
            (x->show.done == x->read.done + x->read.bytes && walk_end(&x->show) <= x->entered));
}

static inline void sums_run(struct mem *m, const struct coll *c, const struct show_want *want)
{
    struct queue_slot *mine = mem_slot(m, mem_rank(m));
    struct shape_ring ring = queue_ring(c->slot_bytes, c->param[SHOW_SETS]);
    struct sums x = { .m = m,
                      .c = c,
                      .want = want,
                      .ring = ring,
                      .f = ring_units_of((uint64_t)c->param[SHOW_FRAGMENT]) };

    x.left = mem_get(m, &mine->at);
    x.entered = mem_get(m, &mine->entered);
    x.show = x.read = walk_begin(c, &x.ring, x.f, x.left);
    while (!walk_ended(c, &x.read)) {
        while (sums_may_show(&x))
            sums_show(&x);
        sums_read(&x);
        walk_leave(m, &x.ring, &x.read.at);
    }
    mem_put(m, &mine->at, x.read.at.at);
    mem_put(m, &mine->entered, x.entered);
    walk_claim(m, c, &x.ring, &x.show.at);
}

#endif
