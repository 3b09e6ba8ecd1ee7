/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * messages_ways.h - the family `messages`: up and down a tree of messages (messages.h), at most f
 * bytes at a time: a long one is on its way through all of the tree at once.
 *
 * As send and receive have it, what comes is copied out before it is passed on or added to
 * anything, and a sum is copied in once more.
 */
#ifndef HUD_ALG_MESSAGES_WAYS_H
#define HUD_ALG_MESSAGES_WAYS_H

#include "alg/messages.h"

enum messages_param { MESSAGES_FRAGMENT, MESSAGES_CELLS, MESSAGES_TREE, MESSAGES_DEGREE };

static const struct alg_param messages_params[] = {
    [MESSAGES_FRAGMENT] = { "fragment", "B", "f, bytes of a message that go at once",
                            HUD_ELEMENT_MAX, 1 << 20, HUD_ELEMENT_MAX, NULL },
    [MESSAGES_CELLS] = { "cells", "1", "of a pair's queue; fewer where the lease holds fewer", 1,
                         256, 4, NULL },
    [MESSAGES_TREE] = { "tree", "", "who sends to whom", 0, SHAPE_KINDS - 1, SHAPE_KNOMIAL,
                        hud_shape_names, .per_call = true },
    [MESSAGES_DEGREE] = { "degree", "1", SHAPE_DEGREE_DOC, 2, 64, 2, NULL, .per_call = true },
    { .name = NULL },
};

static inline struct messages_form messages_form_of(const long *param)
{
    return (struct messages_form){ (size_t)param[MESSAGES_FRAGMENT],
                                   (size_t)param[MESSAGES_CELLS] };
}

static inline size_t messages_slot_bytes(const long *param, int ranks, size_t max_bytes)
{
    const struct messages_form form = messages_form_of(param);

    return messages_bytes(&form, ranks, max_bytes);
}

static inline struct messages messages_of(struct mem *m, const struct coll *c, int root)
{
    const struct messages_form form = messages_form_of(c->param);
    const struct shape_tree tree = { (enum shape_kind)c->param[MESSAGES_TREE],
                                     (int)c->param[MESSAGES_DEGREE], mem_size(m), root, c->groups };

    return messages_begin(m, c, &form, &tree);
}

/* The root sends what is in its c->buf from there on to each child, the same bytes.  Returns the
 * notice: the end may be the last whole element's. */
static inline uint64_t messages_tell(const struct messages *x, const struct coll *c, size_t done)
{
    uint64_t notice = 0;
    int child;

    for (int i = 0; (child = hud_shape_child(&x->tree, x->tree.root, i)) >= 0; i++) {
        mem_flag *cell = messages_open(x, child);
        if (i == 0)
            notice = fragment_in(x->m, c, messages_data(cell), done, x->max_bytes);
        else
            mem_in_all(x->m, messages_data(cell), &c->buf, done, fragment_bytes(notice));
        messages_send(x, child, cell, notice);
    }
    return notice;
}

/* Others receive it, and send it on.  Returns its notice. */
static inline uint64_t messages_pass(const struct messages *x, const struct coll *c, size_t done)
{
    int me = mem_rank(x->m), parent = hud_shape_parent(&x->tree, me), child;
    mem_flag *from = messages_await(x, parent);
    uint64_t notice = mem_get(x->m, from->payload);

    mem_out(x->m, &c->buf, messages_data(from), done, fragment_bytes(notice));
    for (int i = 0; (child = hud_shape_child(&x->tree, me, i)) >= 0; i++) {
        mem_flag *to = messages_open(x, child);
        mem_copy(x->m, messages_data(to), messages_data(from), fragment_bytes(notice));
        messages_send(x, child, to, notice);
    }
    messages_leave(x, parent);
    return notice;
}

/* c->buf of the root to all others'. */
static inline void messages_down(const struct messages *x, const struct coll *c)
{
    bool root = mem_rank(x->m) == x->tree.root;
    uint64_t notice = mem_size(x->m) == 1 ? 0 : FRAGMENT_MORE; /* alone it has nobody to tell */

    for (size_t done = 0; notice & FRAGMENT_MORE; done += fragment_bytes(notice))
        notice = root ? messages_tell(x, c, done) : messages_pass(x, c, done);
}

/* The sum over this rank and all below it of so many bytes, from there on: to the parent; the
 * root's is in c->out.  What is small below comes first. */
static inline void messages_add(const struct messages *x, const struct coll *c, size_t done,
                                size_t bytes)
{
    int me = mem_rank(x->m), parent = hud_shape_parent(&x->tree, me);
    char *came = mem_slot(x->m, me), *kept = came + x->cell_bytes;
    const struct mem_span own = { .view = &c->in, .offset_bytes = done },
                          out = { .view = &c->out, .offset_bytes = done };
    const struct mem_span sum = parent < 0 ? out : (struct mem_span){ .shared = kept };
    struct mem_span all[] = { own, { .shared = came } };

    for (int i = messages_children(x) - 1; i >= 0; i--) {
        int child = hud_shape_child(&x->tree, me, i);
        mem_copy(x->m, came, messages_data(messages_await(x, child)), bytes);
        messages_leave(x, child);
        mem_reduce(x->m, c->reduction, &sum, NULL, all, 2, bytes);
        all[0] = sum;
    }
    if (parent >= 0) {
        mem_flag *cell = messages_open(x, parent);
        mem_move(x->m, &(struct mem_span){ .shared = messages_data(cell) }, &all[0], bytes);
        messages_send(x, parent, cell, fragment_notice(bytes, bytes));
    } else if (mem_size(x->m) == 1) {
        mem_reduce(x->m, c->reduction, &sum, NULL, all, 1, bytes);
    }
}

static inline void messages_up(const struct messages *x, const struct coll *c)
{
    size_t max = x->max_bytes / c->reduction->element_bytes * c->reduction->element_bytes;

    for (size_t done = 0, bytes; done < c->bytes; done += bytes) {
        bytes = c->bytes - done < max ? c->bytes - done : max;
        messages_add(x, c, done, bytes);
    }
}

#endif
