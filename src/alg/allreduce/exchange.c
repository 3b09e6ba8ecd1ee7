/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * allreduce/exchange.c - every rank shows its contribution, and reduces those of all by itself: one line transfer, no second phase.
 *
 * Source    this project, after papers 01 (queues of buffers) and 05 (no barriers on the path).
 * Shape     p ranks, n bytes, by fragments of f.  Each rank copies a fragment into its own queue, then reads it in all queues, from rank 0's on; the next
 *           one is shown before this one is read.
 * Cost      T = l + n (t + p t_r) + ceil(n/f) (p - 1) g    ns; l one line transfer, t ns per byte copied in, t_r per byte read and reduced, g one more
 *           overlapped line
 *           traffic: n written and (p - 1) n read, beyond n in and n out, if p <= MEM_SOURCES, else p n
 * Accepts   any n, if the lease has a window.
 *
 * Positions (shape/ring.h) count over all operations of the slot, which reduce/gather has in common with this.  Lines and edges: alg/show.h.  Who
 * has shown a fragment has left all before the one before it: so, here, nobody waits for `left`, unless a fragment is more than a third of the queue.
 */
#include "alg/show.h"

struct exchange {
    struct mem *m;
    const struct coll *c;
    struct shape_ring ring;
    uint64_t f, entered, left; /* `left`: by all who have shown the fragment that is read next */
    struct walk show, read;
};

static void show(struct exchange *x)
{
    if (walk_end(&x->show) > x->entered)
        x->entered = walk_enter(x->m, &x->ring, &x->show.at);
    show_fragment(x->m, x->c, &x->ring, &x->show);
    walk_on(x->c, &x->ring, x->f, &x->show);
}

static void reduce(struct exchange *x)
{
    show_reduce(x->m, x->c, &x->ring, &x->read);
    x->entered = x->left + x->ring.units > x->entered ? x->left + x->ring.units : x->entered;
    x->left = x->read.at.at;
    walk_on(x->c, &x->ring, x->f, &x->read);
}

/* One fragment more may be shown than has been read, but not at the price of a wait: others may be waiting for this rank to read. */
static bool may_show(const struct exchange *x)
{
    return !walk_ended(x->c, &x->show) &&
           (x->show.done == x->read.done || (x->show.done == x->read.done + x->read.bytes && walk_end(&x->show) <= x->entered));
}

static void run(struct mem *m, const struct coll *c)
{
    struct queue_slot *mine = mem_slot(m, mem_rank(m));
    struct exchange x = {
        .m = m, .c = c, .ring = queue_ring(c->slot_bytes, c->param[SHOW_SETS]), .f = ring_units_of((uint64_t)c->param[SHOW_FRAGMENT])
    };

    x.left = mem_get(m, &mine->at);
    x.entered = mem_get(m, &mine->entered);
    x.show = x.read = walk_begin(c, &x.ring, x.f, x.left);
    while (!walk_ended(c, &x.read)) {
        while (may_show(&x))
            show(&x);
        reduce(&x);
        walk_leave(m, &x.ring, &x.read.at);
    }
    mem_put(m, &mine->at, x.read.at.at);
    mem_put(m, &mine->entered, x.entered);
    walk_claim(m, c, &x.ring, &x.show.at);
}

ALG_DEFINE(allreduce, exchange) = {
    .coll = "allreduce",
    .name = "exchange",
    .doc = "every rank shows its contribution in its own queue and reduces all of them",
    .source = "this project, after papers 01 and 05",
    .ordered = true,
    .family = "contributions",
    .params = show_params,
    .slot_bytes = show_slot_bytes,
    .run = run,
};
