/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cast.h - one rank's message to all others by kernel copies: bcast.c, and scan.c where there are
 * two ranks.  Lines and edges: single_copy.h, bounce.h, claims.h.
 *
 * Source    this project: the kernel copies from one process to another, as the MPIs use it for
 *           messages (CMA), here called by both sides at once.
 * Shape     p ranks, n bytes.  A receiver pulls, from the beginning on.  The root pushes the end,
 *           to each in turn, up to n / p bytes.
 * Cost      T = 3 l + (1 - 1/p) n t     ns; l one line transfer, t ns per byte that the kernel
 *           copies, and maps to do so
 *           traffic: none beyond the bytes read and written; bytes that cannot be reached are
 *           copied twice, through the root's bounce buffer, to one receiver after the other
 *
 * Safety    A view that holds less than the message gets no push, and pulls what it holds.
 */
#ifndef HUD_ALG_CAST_H
#define HUD_ALG_CAST_H

#include "alg/claims.h"
#include "alg/single_copy/bounce.h"

/* On one rank. */
struct cast {
    struct mem *m;
    const struct coll *c;
    int root;
    const struct hud_view *view; /* the message; or where it goes */
    bool alike; /* where lengths differ nothing is copied, and both ranks report that */
};

static inline bool cast_differs(const struct cast *x, const struct single_exposed *root,
                                const struct single_exposed *to)
{
    if (!x->alike || root->bytes == to->bytes)
        return false;
    block_truncate(x->m);
    return true;
}

/* Of the copy to a receiver.  No counter: it pulls alone. */
static inline struct claims cast_claims(const struct cast *x, int receiver,
                                        const struct single_exposed *root,
                                        const struct single_exposed *to)
{
    bool both = root->in != 0 && to->out != 0 && to->bytes == root->bytes,
         own = receiver == mem_rank(x->m);

    return (struct claims){ .m = x->m,
                            .counter = both ? single_claims(x->m, receiver) : NULL,
                            .before = to->cut,
                            .bytes = root->bytes,
                            .most = own ? root->bytes : claims_of_root(root->bytes, mem_size(x->m)),
                            .from_end = !own };
}

/* ---- the root ---- */

static inline void cast_push(const struct cast *x, const struct single_exposed *mine, int rank)
{
    const struct single_exposed to = single_await_entry(x->m, x->c, rank);
    const struct direct place = { { to.out, 0, to.bytes } };
    const struct block whole = block_whole(x->view);
    struct claims own = cast_claims(x, rank, mine, &to);

    if (!cast_differs(x, mine, &to) && own.counter)
        claims_push(&own, rank, &place, &whole);
    single_report(x->m, x->c, rank, mine->bytes - own.done, mine->bytes);
}

static inline void cast_send(const struct cast *x, const struct single_exposed *mine)
{
    const struct block whole = block_whole(x->view), none = { .bytes = 0 };

    for (int k = 1; k < mem_size(x->m); k++)
        single_enter(x->m, x->c, single_other(x->m, k), mine);
    for (int k = 1; k < mem_size(x->m); k++)
        cast_push(x, mine, single_other(x->m, k));
    for (int k = 1; k < mem_size(x->m); k++) {
        int rank = single_other(x->m, k);
        const struct single_missing missing = single_await_report(x->m, x->c, rank);
        const struct block rest = block_cut(&whole, missing.from, missing.end);
        bounce_swap(x->m, x->c, rank, &rest, &none, 0);
    }
}

/* ---- a receiver ---- */

/* Returns the bytes that are there, or dropped, from the beginning on. */
static inline size_t cast_pull(const struct cast *x, const struct single_exposed *root,
                               const struct single_exposed *mine)
{
    const struct direct from = { { root->in, 0, root->bytes } };
    const struct block place = block_whole(x->view);
    struct claims own = cast_claims(x, mem_rank(x->m), root, mine);

    if (cast_differs(x, root, mine))
        return root->bytes;
    if (!own.counter)
        return direct_pull(x->m, x->root, &from, &place);
    claims_pull(&own, x->root, &from, &place);
    return own.done;
}

/* It reports what is missing between its own bytes and those that the root has pushed. */
static inline void cast_receive(const struct cast *x, const struct single_exposed *mine)
{
    single_enter(x->m, x->c, x->root, mine);
    const struct single_exposed root = single_await_entry(x->m, x->c, x->root);
    size_t got = cast_pull(x, &root, mine), end = single_await_report(x->m, x->c, x->root).from;
    single_report(x->m, x->c, x->root, got, end);
    const struct block whole = { { .view = x->view }, root.bytes }, none = { .bytes = 0 },
                       rest = block_cut(&whole, got, end);
    bounce_swap(x->m, x->c, x->root, &none, &rest, block_left(x->view->bytes, got));
}

/* ---- a call ---- */

static inline void cast_run(const struct cast *x)
{
    int me = mem_rank(x->m);
    const uint64_t address = mem_expose(x->m, x->view);
    const struct single_exposed mine = { .in = address,
                                         .out = address,
                                         .cut = claims_before(x->m, single_claims(x->m, me)),
                                         .bytes = x->view->bytes };

    if (me == x->root)
        cast_send(x, &mine);
    else
        cast_receive(x, &mine);
}

#endif
