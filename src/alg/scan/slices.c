/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * slices.c - every rank owns a slice of the message, and replaces all ranks' contributions to it by
 * their running sums: scan/slices, exscan/slices.
 *
 * Source    this project, after allreduce/slices.
 * Shape     p ranks, n bytes, by fragments, each with a piece of every rank's slice; how slices are
 *           cut: shape/pieces.h.  The window of a rank has two sets of cells, in each one for every
 *           owner.  For a fragment a rank
 *             copies its contributions to others' pieces into its window | awaits all others' |
 *             makes the running sums of its own piece, rank by rank, where the contributions were,
 *             and announces them | copies its result out: of its own window; exscan: of its
 *             predecessor's
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
#include "alg/reduction.h"

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

struct prefix {
    struct mem *m;
    const struct coll *c;
    struct pieces cut;
    struct pieces_place now;
    int me, ranks;
    bool exclusive;
};

/* In a rank's window: its contribution to a piece, then the sum of the ranks up to it. */
static struct mem_span cell_of(const struct prefix *p, int rank, const struct piece *piece)
{
    return (struct mem_span){ .shared = (char *)mem_window(p->m, rank) +
                                        pieces_at(&p->cut, &p->now, piece) };
}

/* Without the last rank's of exscan, which nobody reads. */
static void contribute(const struct prefix *p)
{
    struct slot *mine = mem_slot(p->m, p->me);
    struct piece piece = pieces_before(&p->now);
    bool all = !p->exclusive || p->me < p->ranks - 1;

    while (all && pieces_each(&p->cut, &p->now, &piece))
        if (piece.owner != p->me)
            mem_in_all(p->m, cell_of(p, p->me, &piece).shared, p->c->in, piece.offset_bytes,
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

/*
 * The sum of the ranks up to `rank`, from that of the ranks before it, into that rank's cell; for
 * the owner also into its `out`, if it is its result.  The last sum goes there only.
 */
static void add_rank(const struct prefix *p, const struct piece *piece, int rank)
{
    const struct mem_span cell = cell_of(p, rank, piece),
                          own = { .view = p->c->in, .offset_bytes = piece->offset_bytes },
                          out = { .view = p->c->out, .offset_bytes = piece->offset_bytes };
    bool mine = rank == p->me, result = mine && !p->exclusive, last = rank == p->ranks - 1;
    struct sources sum;

    sources_begin(&sum, p->m, p->c, &cell, piece->bytes);
    if (rank > 0)
        sources_add(&sum, cell_of(p, rank - 1, piece));
    sources_add(&sum, mine ? own : cell);
    sources_reduce(&sum, result && last ? &out : &cell, result && !last ? &out : NULL);
}

/* The running sums of its own piece.  What it begins with is there, unless it is its own. */
static void make_sums(const struct prefix *p, const struct piece *piece)
{
    for (int r = p->me == 0 ? 0 : 1; r < p->ranks - (p->exclusive ? 1 : 0); r++)
        add_rank(p, piece, r);
    if (p->exclusive && p->me > 0)
        mem_out(p->m, p->c->out, cell_of(p, p->me - 1, piece).shared, piece->offset_bytes,
                piece->bytes);
}

static void sum_own(const struct prefix *p)
{
    struct slot *mine = mem_slot(p->m, p->me);
    struct piece piece = pieces_before(&p->now);

    while (pieces_each(&p->cut, &p->now, &piece)) {
        if (piece.owner != p->me || piece.bytes == 0)
            continue;
        make_sums(p, &piece);
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
        mem_out(p->m, p->c->out, cell_of(p, holder, &piece).shared, piece.offset_bytes,
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
