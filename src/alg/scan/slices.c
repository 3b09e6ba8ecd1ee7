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
 *                      a rank's last reads of the one before happen before  the next writes to its
 *                                                                           set
 *           R2 -> A2   an owner's running sums               happen before  the copies out of them
 *
 * Deadlock freedom
 *   1. All ranks go through the same fragments in the same order.  A rank that waits in fragment k
 *      waits for another's contributions to it, which that rank announces before it waits in k; or
 *      for sums, whose owner waits for contributions only.
 * Safety
 *   1. In a cell of rank r's window the owner writes after it has seen r's contributions, and
 *      nobody reads before the owner has announced the sums.
 *   2. A rank that has announced its contributions to fragment k has finished fragment k - 1, as
 *      owner and as reader.  So a rank that has awaited all of these may write its set of k - 1
 *      again, for k + 1.
 *   3. In place, a rank reads its contribution to its own piece when it makes the sum of that, and
 *      to other pieces before; it writes its result after that.
 */
#include "alg/scan/sums.h"

enum { SETS = 2 };

enum param { FRAGMENT, BUDGET };

static const struct alg_param params[] = {
    [FRAGMENT] = { "fragment", "B", "bytes of a piece of a slice; 0: what the window holds", 0,
                   1 << 24, 0, NULL, .per_call = true, .tune = "4K,16K" },
    [BUDGET] = { "budget", "B", "bytes of the window, two fragments; 0: what the lease holds", 0,
                 1 << 24, 252 << 10, NULL },
    { .name = NULL },
};

struct slot {
    mem_flag in, sums;
    _Alignas(HUD_LINE) uint64_t at;
};

/* Without the last rank's of exscan, which nobody reads. */
static void contribute(const struct prefix *p)
{
    struct slot *mine = mem_slot(p->m, p->me);
    struct piece piece = pieces_before(&p->now);
    bool all = !p->exclusive || p->me < p->ranks - 1;

    while (all && pieces_each(&p->cut, &p->now, &piece))
        if (piece.owner != p->me)
            mem_in_all(p->m, sums_cell(p, p->me, &piece).shared, p->c->in, piece.offset_bytes,
                       piece.bytes);
    mem_post(p->m, &mine->in, p->now.at + 1); /* R1 */
}

static void await_contributions(const struct prefix *p)
{
    for (int k = 1; k < p->ranks; k++) {
        struct slot *other = mem_slot(p->m, (p->me + k) % p->ranks);
        mem_await(p->m, &other->in, p->now.at + 1); /* A1 */
    }
}

static void sum_own(const struct prefix *p)
{
    struct slot *mine = mem_slot(p->m, p->me);
    struct piece piece = pieces_before(&p->now);

    while (pieces_each(&p->cut, &p->now, &piece)) {
        if (piece.owner != p->me || piece.bytes == 0)
            continue;
        sums_make(p, &piece);
        mem_post(p->m, &mine->sums, p->now.at + 1); /* R2 */
    }
}

/* Its results in others' pieces. */
static void collect(const struct prefix *p)
{
    int holder = p->exclusive ? p->me - 1 : p->me;
    struct piece piece = pieces_before(&p->now);

    while (holder >= 0 && pieces_each(&p->cut, &p->now, &piece)) {
        struct slot *owner = mem_slot(p->m, piece.owner);
        if (piece.owner == p->me || piece.bytes == 0)
            continue;
        mem_await(p->m, &owner->sums, p->now.at + 1); /* A2 */
        mem_out(p->m, p->c->out, sums_cell(p, holder, &piece).shared, piece.offset_bytes,
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
    struct prefix p = { .m = m,
                        .c = c,
                        .cut = cut_of(c, mem_size(m), NULL, SETS, c->param[FRAGMENT]),
                        .now = { .at = mem_get(m, &mine->at) },
                        .me = mem_rank(m),
                        .ranks = mem_size(m),
                        .exclusive = exclusive };

    for (pieces_begin(&p.cut, &p.now); pieces_more(&p.cut, &p.now); pieces_next(&p.cut, &p.now)) {
        contribute(&p);
        await_contributions(&p);
        sum_own(&p);
        collect(&p);
    }
    mem_put(m, &mine->at, p.now.at);
}

static void scan_slices(struct mem *m, const struct coll *c)
{
    run_slices(m, c, false);
}

ALG_DEFINE(scan, slices) = {
    .coll = "scan",
    .name = "slices",
    .doc = "every rank makes the running sums of its slice",
    .source = "this project, after paper 05",
    .ordered = true,
    .family = &family,
    .run = scan_slices,
};

static void exscan_slices(struct mem *m, const struct coll *c)
{
    run_slices(m, c, true);
}

ALG_DEFINE(exscan, slices) = {
    .coll = "exscan",
    .name = "slices",
    .doc = "every rank makes the running sums of its slice",
    .source = "this project, after paper 05",
    .ordered = true,
    .family = &family,
    .run = exscan_slices,
};
