/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * allreduce/levels.c - slices by levels: each unit's contributions to a slice are reduced inside
 * the unit, and only the partial result leaves it; pipelined in fragments.  The way up is in
 * levels.h.
 *
 * Source    this project: slices after paper 05, over paper 03's groups.
 * Shape     p ranks in L levels of groups, n bytes.  Every rank owns a slice.  In each unit without
 *           the owner, one rank is the unit's delegate for the slice (shape/delegates.h); every
 *           rank is delegate for the same number of slices.  The delegate reduces its unit's
 *           contributions, from below, and brings the result back into its own cells, for the unit
 *           to copy.
 * Cost      G units of g ranks: T = 4 F l + 2 (1 - 1/g) n t + n r + G n/p r + (1/g - 1/p) n t  ns;
 *           F fragments, l one line transfer, t ns per byte copied, r ns per byte that a reduction
 *           reads; across a link (1 - 1/G) n to each unit and as much from it (slices: g times
 *           that)
 *           traffic: beyond n in and n out a rank writes (1 + 1/g) n, and reads 2 (1 - 1/g) n from
 *           its unit, 2 (1/g - 1/p) n from others and n/g of its own: (3 + 2/g - 2/p) n; one unit:
 *           as slices
 * Accepts   any n, if the lease has a window.
 *
 * depth: number of levels, from the top down, for which partial results are made; the ranks below
 * are one unit.  How slices are cut: shape/pieces.h.  A contribution is the partial result of a
 * unit of one rank, and the contributions of the lowest level's ranks are reduced in one step.  A
 * rank's cell of a piece holds its contribution or, if the rank is a delegate, the partial result
 * of its highest such unit, and finally, at the owner, the result.  Positions count fragments over
 * all operations.
 *
 * Line                 written by  read by                 value k means
 *   slot[r].made[l]      r           the delegate of r's     what r made of fragment k - 1 for the
 *                                    unit at level l         units at level l is in its window: its
 *                                                            contributions (the lowest level), or
 *                                                            the partial results of its unit below
 *   slot[r].result[l]    r           the unit at level l     the results of fragment k - 1 are in
 *                                                            its window for which r is delegate of
 *                                                            this unit and of none above
 *   slot[r].at           r           r                       (plain) r's position
 *
 * Edges     R2 -> A2   results, and by them all entries    happen before  the copies in the unit,
 *                      and the next writes to a set
 *
 * Deadlock freedom
 *   1. In a fragment, all ranks reduce upward, level by level, then copy downward.  Contributions
 *      to the next fragment are made in between, and need no wait.
 * Safety
 *   1. No acknowledgement is needed.  A result of fragment k proves that all ranks have announced
 *      their contributions to it, and so have finished fragment k - 2.  A rank that copies in k + 1
 *      has seen a result of k - 1.  There are four sets, so the set held k - 3 before.
 */
#include "alg/allreduce/levels.h"

enum param { FRAGMENT, BUDGET, DEPTH };

static const struct alg_param params[] = {
    [FRAGMENT] = { "fragment", "B", "bytes of a piece of a slice; 0: as much as the window holds",
                   0, 1 << 24, 0, NULL, .per_call = true },
    [BUDGET] = { "budget", "B",
                 "bytes of the window, which holds four fragments; 0: as much as the lease allows",
                 0, 1 << 24, 96 << 10, NULL },
    [DEPTH] = { "depth", "1",
                "levels of groups, counted from the top, that compute partial results", 0,
                SHAPE_LEVELS, SHAPE_LEVELS, NULL, .per_call = true, .tune = "1" },
    { .name = NULL },
};

static size_t window_bytes(const long *param, int ranks, size_t max_bytes)
{
    (void)ranks;
    return cut_window_bytes(LEVELS_SETS, param[BUDGET], max_bytes);
}

/* Fetches a result from the delegate of the unit above `level`.  A delegate at `level` keeps the
 * result in its cell for the ranks below. */
static void fetch(const struct levels *s, const struct pieces_place *f, const struct piece *piece,
                  int level)
{
    int from =
        delegates_of(s->groups, level + 1, shape_leader(s->groups, level + 1, s->me), piece->owner);
    struct levels_slot *above = mem_slot(s->m, from);
    char *result = levels_cell(s, f, from, piece), *mine = levels_cell(s, f, s->me, piece);

    mem_await(s->m, &above->result[levels_highest(s, from, piece)], f->at + 1); /* A2 */
    if (level >= s->base)
        mem_copy(s->m, mine, result, piece->bytes);
    mem_out(s->m, s->c->out, level >= s->base ? mine : result, piece->offset_bytes, piece->bytes);
}

static void copy_down(const struct levels *s, const struct pieces_place *f)
{
    struct levels_slot *mine = mem_slot(s->m, s->me);

    for (int level = s->top - 1; level >= s->base - 1; level--) {
        bool any = false;
        for (struct piece piece = pieces_before(f); pieces_each(&s->cut, f, &piece);)
            if (piece.bytes != 0 && levels_highest(s, s->me, &piece) == level) {
                fetch(s, f, &piece, level);
                any = true;
            }
        if (any && level >= s->base)
            mem_post(s->m, &mine->result[level], f->at + 1); /* R2 */
    }
}

static void allreduce_levels(struct mem *m, const struct coll *c)
{
    int top = c->groups->levels - 1, base = top - (int)c->param[DEPTH];
    struct levels_slot *mine = mem_slot(m, mem_rank(m));
    struct levels s = { .m = m,
                        .c = c,
                        .groups = c->groups,
                        .me = mem_rank(m),
                        .base = base > 0 ? base : 0,
                        .top = top };
    struct pieces_place now = { .at = mem_get(m, &mine->at) }, next;

    s.cut = cut_of(c, mem_size(m), NULL, LEVELS_SETS, c->param[FRAGMENT]);
    pieces_begin(&s.cut, &now);
    for (levels_contribute(&s, &now); pieces_more(&s.cut, &now); now = next) {
        next = now;
        pieces_next(&s.cut, &next);
        if (levels_reduce_up(&s, &now))
            mem_post(m, &mine->result[top], now.at + 1); /* R2 */
        if (pieces_more(&s.cut, &next))
            levels_contribute(&s, &next);
        copy_down(&s, &now);
    }
    mem_put(m, &mine->at, now.at);
}

static const struct alg_family family = {
    .params = params,
    .fixed_bytes = sizeof(struct levels_slot),
    .window_bytes = window_bytes,
};

ALG_DEFINE(allreduce, levels) = {
    .coll = "allreduce",
    .name = "levels",
    .doc = "every rank reduces one slice; between NUMA nodes or sockets only their partial results "
           "are copied",
    .source = "this project, after papers 05 (slices) and 03 (groups)",
    .family = &family,
    .run = allreduce_levels,
};
