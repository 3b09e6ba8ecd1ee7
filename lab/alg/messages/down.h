/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * down.h - a message down a tree (messages.c): bcast, and the second half of allreduce.
 *
 * Shape     The root copies each fragment into a cell for each child.  Another rank copies the
 *           fragment out of its parent's cell, then from there into a cell for each child, and
 *           acknowledges it.  So a fragment is in transit through a part of the tree while the next
 *           one follows.
 *
 * Deadlock freedom
 *   1. A rank waits for the message of its parent, and for a cell that a child frees.  The child
 *      needs only the messages that this rank has sent to it, and cells of ranks below it.
 */
#ifndef HUD_ALG_DOWN_H
#define HUD_ALG_DOWN_H

#include "lab/alg/messages/messages.h"

/* Sends the next fragment of the root's c->out, from byte `done` on, to each child.  Returns the
 * header of the fragment, which may end early, at a whole element. */
ALG_INLINE uint64_t down_send(const struct messages *x, const struct coll *c, size_t done)
{
    uint64_t header = 0;
    int child;

    for (int i = 0; (child = hud_shape_child(&x->tree, x->tree.root, i)) >= 0; i++) {
        mem_flag *cell = messages_free_cell(x, child);
        if (i == 0)
            header = fragment_copy_in(x->m, c, messages_data(cell), done, x->max_bytes);
        else
            mem_in_all(x->m, messages_data(cell), c->out, done, fragment_bytes(header));
        messages_send(x, child, cell, header);
    }
    return header;
}

/* Receives a fragment, on a rank other than the root, and sends copies to the children.  Returns
 * the fragment's header. */
ALG_INLINE uint64_t down_forward(const struct messages *x, const struct coll *c, size_t done)
{
    int me = mem_rank(x->m), parent = hud_shape_parent(&x->tree, me), child;
    mem_flag *from = messages_await(x, parent);
    uint64_t header = mem_get(x->m, from->payload);

    mem_out(x->m, c->out, messages_data(from), done, fragment_bytes(header));
    for (int i = 0; (child = hud_shape_child(&x->tree, me, i)) >= 0; i++) {
        mem_flag *to = messages_free_cell(x, child);
        mem_copy(x->m, messages_data(to), messages_data(from), fragment_bytes(header));
        messages_send(x, child, to, header);
    }
    messages_acknowledge(x, parent);
    return header;
}

/* Broadcasts c->out of the root to c->out of all other ranks. */
ALG_INLINE void down_run(const struct messages *x, const struct coll *c)
{
    bool root = mem_rank(x->m) == x->tree.root;
    uint64_t header = mem_size(x->m) == 1 ? 0 : FRAGMENT_MORE; /* a single rank has nothing to
                                                                  send */

    for (size_t done = 0; header & FRAGMENT_MORE; done += fragment_bytes(header))
        header = root ? down_send(x, c, done) : down_forward(x, c, done);
}

#endif
