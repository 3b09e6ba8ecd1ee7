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
 * Positions (shape/ring.h) count over all operations of the slot, which reduce/gather has in common with this.  Who has shown a fragment has left all before the
 * one before it: so, here, nobody waits for `left`, unless a fragment is more than a third of the queue.
 *
 * Line                      written by   read by       value k means
 *   slot[r].word[k % units]   r            all others    r's contribution at position k - 1 is in its queue
 *   data                      r            all           contributions
 * and those of walk.h.
 *
 * Edges     R1 -> A1   a rank's copy-in        happens before  the others' reading it
 *                      a rank's earlier reads  happen before   the others' next write there
 */
#include "alg/walk.h"

struct exchange {
    struct mem *m;
    const struct coll *c;
    struct shape_ring ring;
    uint64_t f, entered, left; /* `left`: by all who have shown the fragment that is read next */
    struct walk show, read;
};

static void show(struct exchange *x)
{
    struct queue_slot *mine = mem_slot(x->m, mem_rank(x->m));

    if (walk_end(&x->show) > x->entered)
        x->entered = walk_enter(x->m, &x->ring, &x->show.at);
    contribution_in(x->m, x->c, queue_data(mine, &x->ring, &x->show.at), x->show.done, x->show.bytes);
    mem_post(x->m, &mine->word[x->show.at.unit], x->show.at.at + 1); /* R1 */
    walk_on(x->c, &x->ring, x->f, &x->show);
}

/* So many sources at once as mem_reduce takes: what has been reduced so far is the first of the next. */
static void reduce(struct exchange *x)
{
    const struct mem_span out = { .view = &x->c->out, .offset_bytes = x->read.done };
    struct mem_span from[MEM_SOURCES];
    int count = 0;

    for (int r = 0; r < mem_size(x->m); r++) {
        struct queue_slot *slot = mem_slot(x->m, r);
        if (r != mem_rank(x->m))
            mem_await(x->m, &slot->word[x->read.at.unit], x->read.at.at + 1); /* A1 */
        void *at = queue_data(slot, &x->ring, &x->read.at);
        from[count++] = r == mem_rank(x->m) ? contribution_own(x->m, x->c, at, x->read.done) : (struct mem_span){ .shared = at };
        if (count == MEM_SOURCES || r == mem_size(x->m) - 1) {
            mem_reduce(x->m, x->c->reduction, &out, NULL, from, count, x->read.bytes);
            from[0] = out;
            count = 1;
        }
    }
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
        .m = m, .c = c, .ring = queue_ring(c->slot_bytes, c->param[WALK_SETS]), .f = ring_units_of((uint64_t)c->param[WALK_FRAGMENT])
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
    .params = walk_params,
    .slot_bytes = walk_slot_bytes,
    .run = run,
};
