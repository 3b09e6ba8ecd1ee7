/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * scan.c - scan/single, exscan/single: every rank owns a slice of the message, makes the running
 * sums of it out of the others' own buffers, and writes each rank's sum into its.  Lines and edges:
 * single_copy.h, bounce.h.
 *
 * Source    this project, after allreduce/single and scan/slices.
 * Shape     p ranks, n bytes.  An owner pulls pieces of the contributions into its bounce buffer.
 *           There each becomes the sum of the ranks up to its own, and is
 *           pushed while it is in the owner's caches.  The owner stops at the first copy that
 *           fails; then the rest goes through the bounce buffers (missing.h).
 * Cost      T = 2 l + n / p ((p - 1) (t + u) + p r)     ns, about; l one line transfer, t per byte
 *           that the kernel pulls, u pushes, and maps to do so, r per byte that is reduced
 *           2 ranks, exscan: that of cast.h, as nothing is reduced
 * Accepts   8 ranks, as each has a piece of the bounce buffer.
 *
 * Safety
 *   1. In place: the owner alone reads and writes the bytes of its slice in any rank's buffers, all
 *      contributions to a piece before any result of it.
 */
#include "alg/single_copy/cast.h"
#include "alg/single_copy/owner.h"

/* ---- slices, so that all owners take the same time ---- */

/* What the kernel copies for a byte of a slice, and what is reduced, as a share of WHOLE: an owner
 * that does twice as much has half as long a slice. */
enum { WHOLE = 1 << 16, PULL = 2, PUSH = 6 };

static size_t weight_of(size_t pulls, size_t sums, size_t pushes)
{
    return WHOLE / (PULL * pulls + sums + PUSH * pushes);
}

/* Rank 0 also copies all of its contribution, which counts as a reduction. */
static size_t scan_weight(int ranks, int owner)
{
    size_t others = (size_t)ranks - 1, other = weight_of(others, others, others - 1),
           first = weight_of(others, others, others), all = first + others * other;

    return owner > 0 ? other : first * (WHOLE + first - all) / (WHOLE + first);
}

/* Nobody needs the last rank's contribution, or has a result for rank 0. */
static size_t exscan_weight(int ranks, int owner)
{
    size_t others = (size_t)ranks - 1; /* at least 2 */

    return weight_of(owner == ranks - 1 ? others : others - 1, others - 1,
                     owner == 0 ? others : others - 1);
}

static size_t starts_by(const struct coll *c, int ranks, int rank,
                        size_t weight(int ranks, int owner))
{
    size_t element = c->reduction->element_bytes, elements = c->bytes / element, before = 0,
           all = 0;

    for (int owner = 0; owner < ranks; owner++) {
        size_t own = ranks == 1 ? 1 : weight(ranks, owner);
        before += owner < rank ? own : 0;
        all += own;
    }
    return (elements / all * before + elements % all * before / all) * element;
}

static size_t scan_starts(const struct coll *c, int ranks, int rank)
{
    return starts_by(c, ranks, rank, scan_weight);
}

static size_t exscan_starts(const struct coll *c, int ranks, int rank)
{
    return starts_by(c, ranks, rank, exscan_weight);
}

static bool all_but_first(const struct coll *c, int rank, int owner)
{
    (void)c, (void)owner;
    return rank > 0;
}

/* All contributions to some bytes, into the pieces of their ranks.  False: not all came. */
static bool pull_all(const struct reduction *r, size_t at, size_t bytes)
{
    int me = mem_rank(r->m);

    for (int rank = 0; rank <= running_last(r); rank++) {
        const struct mem_span to = slice_piece(r, me, rank);
        if (rank != me && !owner_pull(r, rank, at, bytes, &to))
            return false;
    }
    return true;
}

/* Each other rank's sum, which is `first` for the rank that gets rank 0's contribution.  False: not
 * all have theirs. */
static bool push_all(const struct reduction *r, size_t at, size_t bytes,
                     const struct mem_span *first)
{
    bool good = true;

    for (int k = 1; good && k < mem_size(r->m); k++) {
        int rank = single_other(r->m, k);
        const struct mem_span sum =
            rank == 1 && r->sums == SUMS_BEFORE ? *first : slice_result(r, mem_rank(r->m), rank);
        good = owner_push(r, rank, at, bytes, &sum);
    }
    return good;
}

/* This rank's own sum. */
static void take(const struct reduction *r, size_t at, size_t bytes)
{
    int me = mem_rank(r->m);

    if (r->gets(r->c, me, me))
        mem_out(r->m, r->c->out, slice_result(r, me, me).shared, at, bytes);
}

/* Rank 0's result of a scan: its own contribution. */
static void copy_first(const struct reduction *r)
{
    const struct mem_span in = slice_in(r, 0), out = slice_out(r, 0);

    if (mem_rank(r->m) == 0 && r->sums == SUMS_UP_TO && !coll_in_place(r->c))
        mem_move(r->m, &out, &in, r->c->bytes);
}

static struct single_missing sum_slice(const struct reduction *r)
{
    int me = mem_rank(r->m);
    size_t at = slice_start(r, me), end = slice_start(r, me + 1),
           max = whole_elements(r, slice_piece_bytes(r));

    copy_first(r);
    for (size_t n; at < end; at += n) {
        const struct mem_span first = running_first(r, at), kept = slice_piece(r, me, 0);
        n = end - at < max ? end - at : max;
        if (!pull_all(r, at, n))
            break;
        running_make(r, at, n, &first, false);
        take(r, at, n);
        if (push_all(r, at, n, &first))
            continue;
        if (me == 0)
            mem_move(r->m, &kept, &first, n);
        return (struct single_missing){ at, at + n };
    }
    return (struct single_missing){ at, at };
}

static void scan_single(struct mem *m, const struct coll *c)
{
    const struct reduction r = {
        .m = m, .c = c, .starts = scan_starts, .gets = all_but_first, .sums = SUMS_UP_TO
    };

    owner_reduce_by(&r, sum_slice);
}

static bool accepts(const struct coll *c, int ranks)
{
    size_t pieces = 2 * single_half(c->place->window_bytes) / SINGLE_MIN;

    return ranks <= SLICE_PIECES && (size_t)ranks <= pieces;
}

ALG_DEFINE(scan, single) = {
    .coll = "scan",
    .name = "single",
    .doc = "single copy: every rank makes the running sums of a slice of the others' memory and "
           "writes them there",
    .source = "this project",
    .ordered = true,
    .accepts = accepts,
    .family = &HUD_BACKEND(single_family),
    .run = scan_single,
};

static void exscan_single(struct mem *m, const struct coll *c)
{
    const struct reduction r = {
        .m = m, .c = c, .starts = exscan_starts, .gets = all_but_first, .sums = SUMS_BEFORE
    };
    const struct cast whole = {
        .m = m, .c = c, .root = 0, .view = mem_rank(m) == 0 ? c->in : c->out, .alike = true
    };

    if (mem_size(m) == 2)
        cast_run(&whole);
    else
        owner_reduce_by(&r, sum_slice);
}

ALG_DEFINE(exscan, single) = {
    .coll = "exscan",
    .name = "single",
    .doc = "single copy: every rank makes the running sums of a slice of the others' memory and "
           "writes them there",
    .source = "this project",
    .ordered = true,
    .accepts = accepts,
    .family = &HUD_BACKEND(single_family),
    .run = exscan_single,
};
