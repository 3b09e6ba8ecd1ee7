/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rooted.h - blocks between the root and each other rank by kernel copies: gather.c, scatter.c.
 * `cma_read`: the receiver pulls; `cma_write`: the sender pushes.  So all ranks copy at once if
 * gather pushes or scatter pulls; otherwise the root copies alone.  Lines and edges: single_copy.h,
 * bounce.h.
 *
 * Source    this project, after bcast/cma_read.
 * Shape     p ranks, n[i] bytes between rank i and the root.  The root publishes where its block
 *           for each rank, or from each rank, is.  The other rank copies and reports; or, if the
 *           root copies, it publishes its own block and awaits the report.  Afterwards the root and
 *           each rank exchange through the sender's bounce buffer the bytes that the kernel did not
 *           copy.
 * Cost      T = 2 l + max n[i] t                 ns, where the others copy; l one line transfer, t
 *           ns per byte that the kernel copies, and maps to do so
 *           T = 3 l + (sum of n[i]) t            where the root copies
 *           traffic: none beyond the bytes read and written; unreachable bytes are copied once
 *           more, which stays in the caches
 * Accepts   any sizes, if the ranks can reach each other's memory (alg_family.direct) and the lease
 *           has room for a bounce buffer.
 *
 * Deadlock freedom
 *   1. The root enters without a wait.  Another rank waits only for the root, which goes through
 *      the ranks in a fixed order: first for their entries or reports, then for the missing bytes.
 * Safety
 *   1. A line is written again only when its reader has entered a later operation, or has announced
 *      here that it has read the line: a rank reports or enters after the root's entry; the root
 *      reports after the rank's entry, which the rank writes again only after that report.
 *   2. A block that is longer than its receiver expects is not pushed: it goes through the bounce
 *      buffer, and the receiver drops bytes beyond its own block.  A pull cuts such a block.  In
 *      both cases the call reports the truncation.
 *   3. Calls of other sizes may use the other algorithm, with the same lines.  All ranks use the
 *      root's algorithm, which its entry tells.
 */
#ifndef HUD_ALG_ROOTED_H
#define HUD_ALG_ROOTED_H

#include "alg/single_copy/bounce.h"

struct rooted {
    struct mem *m;
    const struct coll *c;
    bool sends;       /* this rank is the sender of the block */
    bool root_copies; /* according to the root */
};

/* Publishes, for a rank, where this rank has the block for it or from the rank. */
static inline void rooted_enter(const struct rooted *x, int rank, const struct block *own)
{
    const struct single_exposed mine = { .in = mem_expose(x->m, own->at.view),
                                         .out = own->at.offset_bytes,
                                         .cut = x->root_copies,
                                         .bytes = own->bytes };

    single_enter(x->m, x->c, rank, &mine);
}

/* Copies a block by the kernel, and returns the missing bytes of the sender's block. */
static inline struct single_missing rooted_move(const struct rooted *x, int rank,
                                                const struct block *own,
                                                const struct single_exposed *other)
{
    const struct direct at = { { other->in, other->out, other->bytes } };

    if (x->sends)
        return (struct single_missing){ direct_push(x->m, rank, &at, own, 0), own->bytes };
    return (struct single_missing){ direct_pull(x->m, rank, &at, own, 0), other->bytes };
}

/* Copies a block by the kernel, and reports the missing bytes to the other rank. */
static inline struct single_missing rooted_copy(const struct rooted *x, int rank,
                                                const struct block *own,
                                                const struct single_exposed *other)
{
    struct single_missing missing = rooted_move(x, rank, own, other);

    single_report(x->m, x->c, rank, missing.from, missing.end);
    return missing;
}

/* Moves the missing bytes of a block through its sender's bounce buffer. */
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

/* Returns the block of a rank in the root's buffer. */
typedef struct block rooted_block(const struct coll *c, int rank);

/* Carries out the root's part.  `one` is the root's own block outside of this buffer. */
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

/* Runs a call.  `one` is this rank's block outside of the root's buffer. */
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

/* Fields that all rows of the family share. */
#define ROOTED_ALG(coll_, name_, doc_)                                                             \
    .coll = #coll_, .name = #name_, .doc = "single copy: " doc_,                                   \
    .source = "this project, after bcast/cma_read", .family = &HUD_BACKEND(single_family),         \
    .run = coll_##_##name_

#endif
