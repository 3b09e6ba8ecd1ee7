/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reduce.c - allreduce/single, reduce/single and reduce_scatter/single: every rank owns a slice of
 * the message, reduces it out of the others' own buffers, and writes the result into theirs.  They
 * differ in a `struct reduction`.  Slot, lines and edges: single_copy.h.
 *
 * Source    this project; the cut over ranks is Rabenseifner's, without its log p rounds.
 * Shape     p ranks, n bytes.  First directly: an owner pulls pieces of the others' contributions
 *           into its bounce buffer, reduces them with its own, in rank order, and pushes the
 *           result, which is still in its caches, to the ranks that get it.  It stops at the first
 *           copy that fails.  Then through the bounce buffers, what is missing of all slices: all
 *           put their contributions there, a fragment at a time, the owner reduces them, and the
 *           ranks that get the result copy it out of the owner's.
 * Cost      l ns one line transfer, t ns per byte that the kernel copies, and maps to do so, r ns
 *           per byte that is reduced:
 *             allreduce       T = 2 l + 2 (1 - 1/p) n t + n r
 *             reduce          T = 2 l + (n / p) (p t + p r), about
 *             reduce_scatter  T = 2 l + k ((p - 1) t + p r), k the largest block
 *           traffic: what a rank pulls it writes to its bounce buffer and reads there; it reads
 *           its result again for each push; all in caches of its own
 * Accepts   any n, if the ranks can reach each other's memory (alg_family.direct) and the lease has
 *           room for a bounce buffer.
 *
 * Deadlock freedom
 *   1. Nobody pulls or pushes before all entries, which need no wait; all report before any
 *      goes on to what is missing, whose fragments all ranks take in the same order.
 * Safety
 *   1. reduce_scatter in place: the result would overlap what others pull, so nothing is published
 *      and all goes through the bounce buffers.
 *   2. Of what is missing, bytes that have been reduced come first: the bounce buffers that hold
 *      them are needed for the rest.
 *   3. An owner reads and writes its slice in buffers of other ranks.  These hold it, as all ranks
 *      have announced the same message, cut alike.  Otherwise nothing is copied.
 */
#include "alg/reduction.h"
#include "alg/single_copy/single_copy.h"

/* On one rank. */
struct reduction {
    struct mem *m;
    const struct coll *c;
    /* Where a rank's slice begins; each ends where the next one's begins. */
    size_t (*starts)(const struct coll *c, int ranks, int rank);
    /* The owner's result is for this rank's out. */
    bool (*gets)(const struct coll *c, int rank, int owner);
    bool scatters; /* out is this rank's slice, not all of them */
};

static size_t slice_start(const struct reduction *r, int rank)
{
    return r->starts(r->c, mem_size(r->m), rank);
}

/* As many of these bytes as are whole elements. */
static size_t whole_elements(const struct reduction *r, size_t bytes)
{
    return bytes - bytes % r->c->reduction->element_bytes;
}

/* This rank's contribution; and where the result goes. */
static struct mem_span in_span(const struct reduction *r, size_t at)
{
    return (struct mem_span){ .view = r->c->in, .offset_bytes = at };
}

static struct mem_span out_span(const struct reduction *r, size_t at)
{
    return (struct mem_span){ .view = r->c->out,
                              .offset_bytes =
                                  at - (r->scatters ? slice_start(r, mem_rank(r->m)) : 0) };
}

static struct mem_span bounce_span(const struct reduction *r, int rank)
{
    return (struct mem_span){ .shared = single_bounce(r->m, r->c, rank, 0) };
}

/* Pieces of a bounce buffer, at most, and so contributions pulled before they are reduced. */
enum { DIRECT_PIECES = 8 };

static int direct_pieces(const struct reduction *r)
{
    int fit = (int)(2 * single_half(r->c->place->window_bytes) / SINGLE_MIN),
        max = fit < DIRECT_PIECES ? fit : DIRECT_PIECES;

    return mem_size(r->m) < max ? mem_size(r->m) : max;
}

static size_t direct_piece_bytes(const struct reduction *r)
{
    return 2 * single_half(r->c->place->window_bytes) / (size_t)direct_pieces(r) / HUD_LINE *
           HUD_LINE;
}

/* Another rank's contribution, into the i-th piece of the bounce buffer.  False: not all came. */
static bool direct_pull(const struct reduction *r, int rank, size_t at, size_t bytes, int i,
                        struct mem_span *source)
{
    struct single_exposed from = single_await_entry(r->m, r->c, rank);

    *source = bounce_span(r, mem_rank(r->m));
    source->shared = (char *)source->shared + (size_t)i * direct_piece_bytes(r);
    return from.in != 0 && mem_pull(r->m, source, rank, from.in, at, bytes) == bytes;
}

/* Reduces all contributions to some bytes; a sum of the first of them is in the first piece.
 * False: one could not be pulled. */
static bool direct_reduce(const struct reduction *r, size_t at, size_t bytes,
                          const struct mem_span *to)
{
    struct mem_span sum = bounce_span(r, mem_rank(r->m)), source;
    struct sources all;

    sources_begin(&all, r->m, r->c, &sum, bytes);
    for (int rank = 0; rank < mem_size(r->m); rank++) {
        if (all.count == direct_pieces(r))
            sources_fold(&all);
        if (rank == mem_rank(r->m))
            source = in_span(r, at);
        else if (!direct_pull(r, rank, at, bytes, all.count, &source))
            return false;
        sources_add(&all, source);
    }
    sources_reduce(&all, to, NULL);
    return true;
}

/* True: all that get the result have it. */
static bool direct_push(const struct reduction *r, size_t at, size_t bytes,
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

/* This rank's slice, as far as the kernel copies: results are missing from byte `from` on, and
 * those up to `end` are in the bounce buffer. */
static struct single_missing direct_slice(const struct reduction *r)
{
    int me = mem_rank(r->m);
    size_t at = slice_start(r, me), end = slice_start(r, me + 1),
           max = whole_elements(r, direct_piece_bytes(r));
    struct mem_span bounce = bounce_span(r, me);

    for (size_t n; at < end; at += n) {
        struct mem_span result = r->gets(r->c, me, me) ? out_span(r, at) : bounce;
        n = end - at < max ? end - at : max;
        if (!direct_reduce(r, at, n, &result))
            break;
        if (direct_push(r, at, n, &result))
            continue;
        if (!result.shared)
            mem_move(r->m, &bounce, &result, n);
        return (struct single_missing){ at, at + n };
    }
    return (struct single_missing){ at, at };
}

/* All contributions to fragment k, into this rank's bounce buffer. */
static void bounce_reduce(const struct reduction *r, size_t at, size_t bytes, size_t k)
{
    struct mem_span bounce = bounce_span(r, mem_rank(r->m));
    struct sources all;

    sources_begin(&all, r->m, r->c, &bounce, bytes);
    for (int rank = 0; rank < mem_size(r->m); rank++) {
        if (rank != mem_rank(r->m))
            single_await_full(r->m, rank, k);
        sources_add(&all, rank == mem_rank(r->m) ? in_span(r, at) : bounce_span(r, rank));
    }
    sources_reduce(&all, &bounce, NULL);
}

/* Fragment k, of this rank's slice. */
static void bounce_own_slice(const struct reduction *r, size_t at, size_t bytes, bool reduced,
                             size_t k)
{
    int me = mem_rank(r->m), ranks = mem_size(r->m);
    struct mem_span bounce = bounce_span(r, me), out = out_span(r, at);

    if (!reduced)
        bounce_reduce(r, at, bytes, k);
    for (int i = 1; i < ranks; i++)
        single_post_full(r->m, single_other(r->m, i), k);
    if (r->gets(r->c, me, me))
        mem_out(r->m, out.view, bounce.shared, out.offset_bytes, bytes);
    for (int i = 1; i < ranks; i++)
        single_await_acknowledged(r->m, single_other(r->m, i), k);
}

/* Fragment k, of another owner's slice. */
static void bounce_other_slice(const struct reduction *r, int owner, size_t at, size_t bytes,
                               bool reduced, size_t k)
{
    if (!reduced) {
        mem_in_all(r->m, single_bounce(r->m, r->c, mem_rank(r->m), 0), r->c->in, at, bytes);
        single_post_full(r->m, owner, k);
    }
    single_await_full(r->m, owner, k);
    if (r->gets(r->c, mem_rank(r->m), owner))
        mem_out(r->m, r->c->out, single_bounce(r->m, r->c, owner, 0), at, bytes);
    single_post_acknowledged(r->m, owner, k);
}

/* What is missing of all slices: what has been reduced, or the rest.  Returns the next fragment. */
static size_t bounce_missing(const struct reduction *r, const struct single_missing *own,
                             bool reduced, size_t k)
{
    int me = mem_rank(r->m);
    size_t max = whole_elements(r, single_half(r->c->place->window_bytes));

    for (int owner = 0; owner < mem_size(r->m); owner++) {
        struct single_missing missing = owner == me ? *own : single_reported(r->m, owner, me);
        size_t end = reduced ? missing.end : slice_start(r, owner + 1);
        for (size_t at = reduced ? missing.from : missing.end, n; at < end; at += n, k++) {
            n = reduced || end - at < max ? end - at : max;
            if (owner == me)
                bounce_own_slice(r, at, n, reduced, k);
            else
                bounce_other_slice(r, owner, at, n, reduced, k);
        }
    }
    return k;
}

/* How this rank cuts the message: a number that ranks which cut it alike have in common. */
static uint64_t cut_number(const struct reduction *r)
{
    uint64_t number = r->c->reduction->element_bytes;

    for (int rank = 0; r->scatters && rank < mem_size(r->m); rank++)
        number = number * 1000003 + r->c->block_bytes[rank];
    return number;
}

static void reduce_slices(const struct reduction *r)
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
        own = direct_slice(r);
    for (int k = 1; k < mem_size(r->m); k++)
        single_report(r->m, c, single_other(r->m, k), own.from, own.end);
    for (int k = 1; k < mem_size(r->m); k++)
        single_await_report(r->m, c, single_other(r->m, k));
    size_t fragments = bounce_missing(r, &own, false, bounce_missing(r, &own, true, 0));
    for (int k = 1; k < mem_size(r->m); k++)
        single_add_fragments(r->m, single_other(r->m, k), fragments);
}

/* ---- allreduce/single ---- */

/* Slices differ by an element at most. */
static size_t allreduce_starts(const struct coll *c, int ranks, int rank)
{
    size_t element = c->reduction->element_bytes;

    return c->bytes / element * (size_t)rank / (size_t)ranks * element;
}

static bool allreduce_gets(const struct coll *c, int rank, int owner)
{
    (void)c, (void)rank, (void)owner;
    return true;
}

static void allreduce_single(struct mem *m, const struct coll *c)
{
    reduce_slices(
        &(struct reduction){ .m = m, .c = c, .starts = allreduce_starts, .gets = allreduce_gets });
}

ALG_DEFINE(allreduce, single) = {
    .coll = "allreduce",
    .name = "single",
    .doc =
        "single copy: every rank reduces a slice of the others' memory and writes the result there",
    .source = "this project",
    .ordered = true,
    .family = &HUD_BACKEND(single_family),
    .run = allreduce_single,
};

/*
 * ---- reduce/single ----
 *
 * The owner of k bytes pulls (p - 1) k and pushes k, but for the root: so the root's slice is
 * larger, by the ratio of 3 p to 3 p - 2, a byte that is reduced counted as half of one that is
 * copied.
 */

static size_t reduce_starts(const struct coll *c, int ranks, int rank)
{
    size_t element = c->reduction->element_bytes, p = (size_t)ranks, share = 3 * p - 2;

    return c->bytes / element * (share * (size_t)rank + (rank > c->root ? 2 : 0)) /
           (share * p + 2) * element;
}

static bool reduce_gets(const struct coll *c, int rank, int owner)
{
    (void)owner;
    return rank == c->root;
}

static void reduce_single(struct mem *m, const struct coll *c)
{
    reduce_slices(
        &(struct reduction){ .m = m, .c = c, .starts = reduce_starts, .gets = reduce_gets });
}

ALG_DEFINE(reduce, single) = {
    .coll = "reduce",
    .name = "single",
    .doc = "single copy: every rank reduces a slice of the others' memory and writes the result "
           "into the root's",
    .source = "this project",
    .ordered = true,
    .family = &HUD_BACKEND(single_family),
    .run = reduce_single,
};

/* ---- reduce_scatter/single ---- */

static size_t reduce_scatter_starts(const struct coll *c, int ranks, int rank)
{
    size_t sum = 0;

    (void)ranks;
    for (int r = 0; r < rank; r++)
        sum += c->block_bytes[r];
    return sum;
}

static bool reduce_scatter_gets(const struct coll *c, int rank, int owner)
{
    (void)c;
    return rank == owner;
}

static void reduce_scatter_single(struct mem *m, const struct coll *c)
{
    reduce_slices(&(struct reduction){ .m = m,
                                       .c = c,
                                       .starts = reduce_scatter_starts,
                                       .gets = reduce_scatter_gets,
                                       .scatters = true });
}

ALG_DEFINE(reduce_scatter, single) = {
    .coll = "reduce_scatter",
    .name = "single",
    .doc = "single copy: every rank reduces its block of the others' memory",
    .source = "this project",
    .ordered = true,
    .family = &HUD_BACKEND(single_family),
    .run = reduce_scatter_single,
};
