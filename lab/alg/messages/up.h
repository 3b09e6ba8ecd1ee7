/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * up.h - sums up a tree of messages (messages.c): reduce, and the first half of allreduce.
 *
 * Shape     A rank copies the sum of each child out of its cell, acknowledges it and adds it to its
 *           own contribution.  It copies the result into a cell for its parent.  All ranks cut the
 *           message in the same way, at whole elements.
 *
 * Line                 written by  read by  meaning
 *   slot[r].came, .sum   r           r        (plain) the received sum, and the sum so far
 *
 * Deadlock freedom
 *   1. A rank waits for messages of its children, and for a cell that its parent frees.  The
 *      parent needs only the messages of its children, and cells of ranks above it.
 */
#ifndef HUD_ALG_UP_H
#define HUD_ALG_UP_H

#include "lab/alg/messages/messages.h"

static inline int up_children(const struct messages *x)
{
    int count = 0;

    while (hud_shape_child(&x->tree, mem_rank(x->m), count) >= 0)
        count++;
    return count;
}

/* Adds up `bytes` bytes, from byte `done` on, over this rank and all ranks below, and sends the sum
 * to the parent.  The root stores the sum in c->out.  Small subtrees come first. */
ALG_INLINE void up_add(const struct messages *x, const struct coll *c, size_t done, size_t bytes)
{
    int me = mem_rank(x->m), parent = hud_shape_parent(&x->tree, me);
    char *came = mem_slot(x->m, me), *kept = came + x->cell_bytes;
    const struct mem_span own = { .view = c->in, .offset_bytes = done },
                          out = { .view = c->out, .offset_bytes = done };
    const struct mem_span sum = parent < 0 ? out : (struct mem_span){ .shared = kept };
    struct mem_span all[] = { own, { .shared = came } };

    for (int i = up_children(x) - 1; i >= 0; i--) {
        int child = hud_shape_child(&x->tree, me, i);
        mem_copy(x->m, came, messages_data(messages_await(x, child)), bytes);
        messages_acknowledge(x, child);
        mem_reduce(x->m, c->reduction, &sum, NULL, all, 2, bytes);
        all[0] = sum;
    }
    if (parent >= 0) {
        mem_flag *cell = messages_free_cell(x, parent);
        mem_move(x->m, &(struct mem_span){ .shared = messages_data(cell) }, &all[0], bytes);
        messages_send(x, parent, cell, fragment_header(bytes, bytes));
    } else if (mem_size(x->m) == 1) {
        mem_reduce(x->m, c->reduction, &sum, NULL, all, 1, bytes);
    }
}

/* Reduces c->in of all ranks to c->out of the root. */
ALG_INLINE void up_run(const struct messages *x, const struct coll *c)
{
    size_t max = x->max_bytes / c->reduction->element_bytes * c->reduction->element_bytes;

    for (size_t done = 0, bytes; done < c->bytes; done += bytes) {
        bytes = c->bytes - done < max ? c->bytes - done : max;
        up_add(x, c, done, bytes);
    }
}

#endif
