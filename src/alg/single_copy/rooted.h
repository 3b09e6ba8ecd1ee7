/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rooted.h - blocks between the root and each other rank by kernel copies: gather.c, scatter.c.
 * `single`: the receiver pulls; `push`: the sender pushes.  So where gather pushes, or scatter
 * pulls, all ranks copy at once; otherwise the root does it alone.  Lines and edges: single_copy.h,
 * bounce.h.
 *
 * Source    this project, after bcast/single.
 * Shape     p ranks, n[i] bytes between rank i and the root.  The root enters: here is my block for
 *           you, or from you.  The other rank copies and reports; or, where the root copies, enters
 *           likewise and awaits the report.  Afterwards the root and each rank exchange through the
 *           sender's bounce buffer what the kernel did not copy.
 * Cost      T = 2 l + max n[i] t                 ns, where the others copy; l one line transfer, t
 *           ns per byte that the kernel copies, and maps to do so
 *           T = 3 l + (sum of n[i]) t            where the root copies
 *           traffic: none beyond the bytes read and written; what cannot be reached is copied once
 *           more, which stays in the caches
 * Accepts   any sizes, if the ranks can reach each other's memory (alg_family.direct) and the lease
 *           has room for a bounce buffer.
 *
 * Deadlock freedom
 *   1. The root enters without a wait.  Another rank waits for the root alone, which goes through
 *      the ranks in one order: first for their entries or reports, then for what is missing.
 * Safety
 *   1. A line is written again only when its reader has come to a later operation, or has said here
 *      that it has read it: a rank reports or enters after the root's entry; the root reports after
 *      the rank's entry, which the rank writes again only after that report.
 *   2. A block that is longer than its receiver expects is not pushed: it goes through the bounce
 *      buffer, and the receiver drops what its own block does not hold.  What a pull brings is cut.
 *      Both times the call reports that.
 *   3. Another size may go the other way, in the same lines: all go the root's way, which its entry
 *      has.
 */
#ifndef HUD_ALG_ROOTED_H
#define HUD_ALG_ROOTED_H

#include "alg/single_copy/bounce.h"

struct rooted {
    struct mem *m;
    const struct coll *c;
    bool sends;       /* this rank is the sender of the block */
    bool root_copies; /* as the root says */
};

/* Tells a rank where this one has the block for it, or from it. */
static inline void rooted_enter(const struct rooted *x, int rank, const struct block *own)
{
    const struct single_exposed mine = { .in = mem_expose(x->m, own->at.view),
                                         .out = own->at.offset_bytes,
                                         .cut = x->root_copies,
                                         .bytes = own->bytes };

    single_enter(x->m, x->c, rank, &mine);
}

/* Copies by the kernel; returns what did not come of the sender's block. */
static inline struct single_missing rooted_move(const struct rooted *x, int rank,
                                                const struct block *own,
                                                const struct single_exposed *other)
{
    const struct direct at = { { other->in, other->out, other->bytes } };

    if (x->sends)
        return (struct single_missing){ direct_push(x->m, rank, &at, own, 0), own->bytes };
    return (struct single_missing){ direct_pull(x->m, rank, &at, own, 0), other->bytes };
}

/* This rank copies. */
static inline struct single_missing rooted_copy(const struct rooted *x, int rank,
                                                const struct block *own,
                                                const struct single_exposed *other)
{
    struct single_missing missing = rooted_move(x, rank, own, other);

    single_report(x->m, x->c, rank, missing.from, missing.end);
    return missing;
}

/* What is missing of a block, through its sender's bounce buffer. */
static inline void rooted_bounce(const struct rooted *x, int rank, const struct block *own,
                                 struct single_missing missing)
{
    const struct block none = { .bytes = 0 }, rest = single_cut(own, missing.from, missing.end);

    if (missing.from == missing.end)
        return;
    if (x->sends)
        bounce_swap(x->m, x->c, rank, &rest, &none, 0);
    else
        bounce_swap(x->m, x->c, rank, &none, &rest, block_left(own->bytes, missing.from));
}

/* The block of a rank in the root's buffer. */
typedef struct block rooted_block(const struct coll *c, int rank);

/* The root's part.  `one`: its own block where it is not in that buffer. */
ALG_INLINE void rooted_root(const struct rooted *x, rooted_block *block, const struct block *one)
{
    struct mem *m = x->m;
    int ranks = mem_size(m);
    const struct block place = block(x->c, mem_rank(m)), *from = x->sends ? &place : one,
                       *to = x->sends ? one : &place;

    for (int k = 1; k < ranks; k++) {
        const struct block own = block(x->c, single_other(m, k));
        rooted_enter(x, single_other(m, k), &own);
    }
    block_move(m, to, from);
    for (int k = 1; k < ranks && x->root_copies; k++) {
        const struct block own = block(x->c, single_other(m, k));
        const struct single_exposed other = single_await_entry(m, x->c, single_other(m, k));
        rooted_copy(x, single_other(m, k), &own, &other);
    }
    for (int k = 1; k < ranks; k++) {
        int rank = single_other(m, k);
        const struct block own = block(x->c, rank);
        rooted_bounce(x, rank, &own,
                      x->root_copies ? single_reported(m, mem_rank(m), rank)
                                     : single_await_report(m, x->c, rank));
    }
}

static inline void rooted_other(struct rooted *x, const struct block *own)
{
    int root = x->c->root;
    const struct single_exposed other = single_await_entry(x->m, x->c, root);
    struct single_missing missing;

    x->root_copies = other.cut != 0;
    if (x->root_copies) {
        rooted_enter(x, root, own);
        missing = single_await_report(x->m, x->c, root);
    } else {
        missing = rooted_copy(x, root, own, &other);
    }
    rooted_bounce(x, root, own, missing);
}

/* A call.  `one`: this rank's block where it is not among the root's. */
ALG_INLINE void rooted_blocks(struct mem *m, const struct coll *c, bool gathers, bool root_copies,
                              rooted_block *block, const struct block *one)
{
    bool root = mem_rank(m) == c->root;
    struct rooted x = { m, c, root != gathers, root_copies };

    if (root)
        rooted_root(&x, block, one);
    else
        rooted_other(&x, one);
}

/* What all of its rows have. */
#define ROOTED_ALG(coll_, name_, doc_)                                                             \
    .coll = #coll_, .name = #name_, .doc = "single copy: " doc_,                                   \
    .source = "this project, after bcast/single", .family = &HUD_BACKEND(single_family),           \
    .run = coll_##_##name_

#endif
