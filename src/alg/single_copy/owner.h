/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * owner.h - reductions by kernel copies: every rank owns a slice of the message, reduces it
 * directly from the others' buffers, and writes the result into their buffers.  reduce.c and
 * reduce_scatter.c differ in a `struct reduction`.  Lines and edges: single_copy.h, bounce.h.
 *
 * Source    this project; the cut over ranks is Rabenseifner's, without its log p rounds.
 * Shape     First directly: an owner pulls pieces of the others' contributions into its bounce
 *           buffer, reduces them with its own, in rank order, and pushes the result, which is still
 *           in its caches, to the ranks that get it.  It stops at the first copy that fails.  Then
 *           the missing bytes of all slices go through the bounce buffers (missing.h).
 * Cost      of each collective in its file.  Traffic: a rank writes the data that it pulls to its
 *           bounce buffer and reads them there; it reads its result again for each push.  All of
 *           this stays in its own caches.
 * Accepts   any n, if the ranks can reach each other's memory (alg_family.direct) and the lease has
 *           room for a bounce buffer.
 *
 * Deadlock freedom
 *   1. No rank pulls or pushes before it has all entries, which need no wait.  All ranks report
 *      before any rank continues with the missing bytes, whose fragments all ranks process in the
 *      same order.
 * Safety
 *   1. reduce_scatter in place: the result would overlap bytes that others pull, so nothing is
 *      published and all data go through the bounce buffers.
 *   2. Of the missing bytes, those that have been reduced come first: the bounce buffers that hold
 *      them are needed for the rest.
 *   3. An owner reads and writes its slice in buffers of other ranks.  These are large enough, as
 *      all ranks have announced the same message, cut in the same way.  Otherwise nothing is
 *      copied.
 */
#ifndef HUD_ALG_OWNER_H
#define HUD_ALG_OWNER_H

#include "alg/single_copy/missing.h"

/* Maximum number of pieces of a bounce buffer, and so of contributions pulled before they are
 * reduced. */
enum { DIRECT_PIECES = 8 };

static inline int owner_pieces(const struct reduction *r)
{
    int fit = (int)(2 * single_half(r->c->place->window_bytes) / SINGLE_MIN),
        max = fit < DIRECT_PIECES ? fit : DIRECT_PIECES;

    return mem_size(r->m) < max ? mem_size(r->m) : max;
}

static inline size_t owner_piece_bytes(const struct reduction *r)
{
    return 2 * single_half(r->c->place->window_bytes) / (size_t)owner_pieces(r) / HUD_LINE *
           HUD_LINE;
}

/* Pulls another rank's contribution into the i-th piece of the bounce buffer.  Returns false if not
 * all bytes came. */
static inline bool owner_pull(const struct reduction *r, int rank, size_t at, size_t bytes, int i,
                              struct mem_span *source)
{
    struct single_exposed from = single_await_entry(r->m, r->c, rank);

    *source = slice_bounce(r, mem_rank(r->m));
    source->shared = (char *)source->shared + (size_t)i * owner_piece_bytes(r);
    return from.in != 0 && mem_pull(r->m, source, rank, from.in, at, bytes) == bytes;
}

/* Reduces all contributions to some bytes.  A sum of the first contributions is in the first piece.
 * Returns false if a contribution could not be pulled. */
static inline bool owner_sum(const struct reduction *r, size_t at, size_t bytes,
                             const struct mem_span *to)
{
    struct mem_span sum = slice_bounce(r, mem_rank(r->m)), source;
    struct sources all;

    sources_begin(&all, r->m, r->c, &sum, bytes);
    for (int rank = 0; rank < mem_size(r->m); rank++) {
        if (all.count == owner_pieces(r))
            sources_fold(&all);
        if (rank == mem_rank(r->m))
            source = slice_in(r, at);
        else if (!owner_pull(r, rank, at, bytes, all.count, &source))
            return false;
        sources_add(&all, source);
    }
    sources_reduce(&all, to, NULL);
    return true;
}

/* Pushes a result.  Returns true if all ranks that get the result have received all of its
 * bytes. */
static inline bool owner_push(const struct reduction *r, size_t at, size_t bytes,
                              const struct mem_span *result)
{
    bool good = true;

    for (int k = 1; good && k < mem_size(r->m); k++) {
        int rank = single_other(r->m, k);
        if (!r->gets(r->c, rank, mem_rank(r->m)))
            continue;
        uint64_t to = single_await_entry(r->m, r->c, rank).out;
        bool reached = to != 0 && (result->shared || mem_expose(r->m, result->view) != 0);
        good = reached && mem_push(r->m, result, rank, to, at, bytes) == bytes;
    }
    return good;
}

/* Reduces this rank's slice, as far as the kernel copies.  Returns the missing results, from byte
 * `from` on.  The results up to `end` are in the bounce buffer. */
static inline struct single_missing owner_slice(const struct reduction *r)
{
    int me = mem_rank(r->m);
    size_t at = slice_start(r, me), end = slice_start(r, me + 1),
           max = whole_elements(r, owner_piece_bytes(r));
    struct mem_span bounce = slice_bounce(r, me);

    for (size_t n; at < end; at += n) {
        struct mem_span result = r->gets(r->c, me, me) ? slice_out(r, at) : bounce;
        n = end - at < max ? end - at : max;
        if (!owner_sum(r, at, n, &result))
            break;
        if (owner_push(r, at, n, &result))
            continue;
        if (!result.shared)
            mem_move(r->m, &bounce, &result, n);
        return (struct single_missing){ at, at + n };
    }
    return (struct single_missing){ at, at };
}

/* ---- a call ---- */

/* Returns a number that represents how this rank cuts the message.  Ranks with the same cut have
 * the same number. */
static inline uint64_t cut_number(const struct reduction *r)
{
    uint64_t number = r->c->reduction->element_bytes;

    for (int rank = 0; r->scatters && rank < mem_size(r->m); rank++)
        number = number * 1000003 + r->c->block_bytes[rank];
    return number;
}

static inline void owner_reduce(const struct reduction *r)
{
    const struct coll *c = r->c;
    size_t start = slice_start(r, mem_rank(r->m));
    struct single_missing own = { start, start };
    bool closed = r->scatters && coll_in_place(c);
    const struct single_exposed mine = { .in = closed ? 0 : mem_expose(r->m, c->in),
                                         .out = mem_expose(r->m, c->out),
                                         .cut = cut_number(r),
                                         .bytes = c->bytes };

    for (int k = 1; k < mem_size(r->m); k++)
        single_enter(r->m, c, single_other(r->m, k), &mine);
    if (!single_agree(r->m, c, &mine))
        return;
    if (!closed)
        own = owner_slice(r);
    for (int k = 1; k < mem_size(r->m); k++)
        single_report(r->m, c, single_other(r->m, k), own.from, own.end);
    for (int k = 1; k < mem_size(r->m); k++)
        single_await_report(r->m, c, single_other(r->m, k));
    size_t fragments = missing_bounce(r, &own, true, 0);
    fragments = missing_bounce(r, &own, false, fragments);
    for (int k = 1; k < mem_size(r->m); k++)
        bounce_add_fragments(r->m, single_other(r->m, k), fragments);
}

#endif
