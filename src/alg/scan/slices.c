/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * slices.c - every rank owns a slice of the message, and replaces all ranks' contributions to it by
 * their running sums: scan/slices, exscan/slices.
 *
 * Source    this project, after allreduce/slices.
 * Shape     p ranks, n bytes, by fragments, each with a piece of every rank's slice; how slices are
 *           cut: shape/pieces.h.  For a fragment a rank
 *             copies its contributions to others' pieces into its window | awaits all others' |
 *             makes the running sums of its own piece (sums.h), and announces them |
 *             copies its result out: of its own window; exscan: of its predecessor's
 * Cost      F fragments, l ns one line transfer, t ns per byte copied, r ns per byte that a
 *           reduction reads
 *             T = 2 F l + 2 (1 - 1/p) n t + 2 n r + p F l
 *           traffic: (1 - 1/p) n bytes in, 3 n by the owner, (1 - 1/p) n out
 * Accepts   any n, if the lease has a window.
 *
 * Positions count fragments over all operations of the family.
 *
 * Line              written by   read by      value k means
 *   slot[r].in      r            all others   r's contributions to fragment k - 1 are in its
 *                                             window; r has finished fragment k - 2
 *   slot[r].sums    r            all others   the running sums of r's piece of fragment k - 1 are
 *                                             in all windows
 *   slot[r].at      r            r            (plain) r's position
 *
 * Edges     R1 -> A1   a rank's contributions to a fragment  happen before  the owners' reading and
 *                      replacing them
 *                      a rank's last reads of fragment k - 1  happen before  the next writes to its
 *                                                                           set
 *           R2 -> A2   an owner's running sums               happen before  the copies out of them
 *
 * Deadlock freedom
 *   1. All ranks go through the same fragments in the same order.  A rank that waits in fragment k
 *      waits for another rank's contributions to it, which that rank announces before it waits in
 *      k; or for sums, whose owner waits only for contributions.
 * Safety
 *   1. The owner of a piece writes to a cell of rank r's window after it has seen r's
 *      contributions, and no rank reads the cell before the owner has announced the sums.
 *   2. A rank that has announced its contributions to fragment k has finished fragment k - 1, as
 *      owner and as reader.  So a rank that has awaited all of these may write its set of k - 1
 *      again, for k + 1.
 *   3. In place, a rank reads its contribution to its own piece when it computes the sum, and its
 *      contributions to other pieces earlier.  It writes its result afterwards.
 */
#include "alg/scan/sums.h"

enum { SETS = 2 };

enum param { FRAGMENT, BUDGET };

static const struct alg_param params[] = {
    [FRAGMENT] = { "fragment", "B", "bytes of a piece of a slice; 0: as much as the window holds",
                   0, 1 << 24, 0, NULL, .per_call = true, .tune = "4K,16K" },
    [BUDGET] = { "budget", "B",
                 "bytes of the window, which holds two fragments; 0: as much as the lease allows",
                 0, 1 << 24, 252 << 10, NULL },
    { .name = NULL },
};

struct slot {
    mem_flag in, sums;
    _Alignas(HUD_LINE) uint64_t at;
};

/* Copies this rank's contributions in and announces them.  Omits the contribution of the last rank
 * of exscan, which no rank reads. */
static void contribute(const struct sums *s)
{
    struct slot *mine = mem_slot(s->m, s->me);
    struct piece piece = pieces_before(&s->now);
    bool all = !s->exclusive || s->me < s->ranks - 1;

    while (all && pieces_each(&s->cut, &s->now, &piece))
        if (piece.owner != s->me)
            mem_in_all(s->m, sums_cell(s, s->me, &piece).shared, s->c->in, piece.offset_bytes,
                       piece.bytes);
    mem_post(s->m, &mine->in, s->now.at + 1); /* R1 */
}

static void await_contributions(const struct sums *s)
{
    for (int k = 1; k < s->ranks; k++) {
        struct slot *other = mem_slot(s->m, (s->me + k) % s->ranks);
        mem_await(s->m, &other->in, s->now.at + 1); /* A1 */
    }
}

static void sum_own(const struct sums *s)
{
    struct slot *mine = mem_slot(s->m, s->me);
    struct piece piece = pieces_before(&s->now);

    while (pieces_each(&s->cut, &s->now, &piece)) {
        if (piece.owner != s->me || piece.bytes == 0)
            continue;
        sums_make(s, &piece);
        mem_post(s->m, &mine->sums, s->now.at + 1); /* R2 */
    }
}

/* Copies out this rank's results in the pieces of other owners. */
static void collect(const struct sums *s)
{
    int holder = s->exclusive ? s->me - 1 : s->me;
    struct piece piece = pieces_before(&s->now);

    while (holder >= 0 && pieces_each(&s->cut, &s->now, &piece)) {
        struct slot *owner = mem_slot(s->m, piece.owner);
        if (piece.owner == s->me || piece.bytes == 0)
            continue;
        mem_await(s->m, &owner->sums, s->now.at + 1); /* A2 */
        mem_out(s->m, s->c->out, sums_cell(s, holder, &piece).shared, piece.offset_bytes,
                piece.bytes);
    }
}

static size_t window_bytes(const long *param, int ranks, size_t max_bytes)
{
    (void)ranks;
    return cut_window_bytes(SETS, param[BUDGET], max_bytes);
}

static const struct alg_family family = {
    .params = params,
    .fixed_bytes = sizeof(struct slot),
    .window_bytes = window_bytes,
};

static void run_slices(struct mem *m, const struct coll *c, bool exclusive)
{
    struct slot *mine = mem_slot(m, mem_rank(m));
    struct sums s = { .m = m,
                      .c = c,
                      .cut = cut_of(c, mem_size(m), NULL, SETS, c->param[FRAGMENT]),
                      .now = { .at = mem_get(m, &mine->at) },
                      .me = mem_rank(m),
                      .ranks = mem_size(m),
                      .exclusive = exclusive };

    for (pieces_begin(&s.cut, &s.now); pieces_more(&s.cut, &s.now); pieces_next(&s.cut, &s.now)) {
        contribute(&s);
        await_contributions(&s);
        sum_own(&s);
        collect(&s);
    }
    mem_put(m, &mine->at, s.now.at);
}

static void scan_slices(struct mem *m, const struct coll *c)
{
    run_slices(m, c, false);
}

static void exscan_slices(struct mem *m, const struct coll *c)
{
    run_slices(m, c, true);
}

/* Fields of both rows. */
#define SLICES(coll_)                                                                              \
    .coll = #coll_, .name = "slices",                                                              \
    .doc = "every rank computes one slice of all ranks' results",                                  \
    .source = "this project, after paper 05", .ordered = true, .family = &family,                  \
    .run = coll_##_slices

ALG_DEFINE(scan, slices) = { SLICES(scan) };

ALG_DEFINE(exscan, slices) = { SLICES(exscan) };
