/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * allreduce/levels.c - slices by levels: each unit's contributions to a slice are reduced inside
 * it, and only the partial result leaves it; pipelined by fragments.
 *
 * Source    this project: slices after paper 05, over paper 03's groups.
 * Shape     p ranks in L levels of groups, n bytes.  Every rank owns a slice.  In each unit
 *           without the owner one rank is its delegate for the slice (shape/delegates.h), every
 *           rank for as many slices.  It reduces its unit's contributions, from below, and brings
 *           the result back into its own cells, for the unit to copy.
 * Cost      G units of g ranks: T = 4 F l + 2 (1 - 1/g) n t + n r + G n/p r + (1/g - 1/p) n t  ns;
 *           F fragments, l one line transfer, t ns per byte copied, r ns per byte that a reduction
 *           reads; across a link (1 - 1/G) n to each unit and as much from it (slices: g times
 *           that)
 *           traffic: beyond n in and n out a rank writes (1 + 1/g) n, and reads 2 (1 - 1/g) n from
 *           its unit, 2 (1/g - 1/p) n from others and n/g of its own: (3 + 2/g - 2/p) n; one unit:
 *           as slices
 * Accepts   any n, if the lease has a window.
 *
 * depth: levels, from the top down, that partial results are made for; the ranks below are one
 * unit.  How slices are cut: shape/pieces.h.  A contribution is the partial result of a unit of one
 * rank, and those of the lowest level's ranks are reduced in one step.  A rank's cell of a piece
 * holds its contribution; or, if it is a delegate, the partial result of the highest such unit; at
 * last, at the owner, the result.  Positions count fragments over all operations.
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
 * Edges     R1 -> A1   contributions, and partial results  happen before  the reduction of the unit
 *                      above
 *           R2 -> A2   results, and by them all entries    happen before  the copies in the unit,
 *                      and the next writes to a set
 *
 * Deadlock freedom
 *   1. In a fragment all reduce upward, level by level, then copy downward; contributions to the
 *      next fragment are made in between, and need no wait.
 * Safety
 *   1. No acknowledgement is needed.  A result of fragment k proves that all have announced their
 *      contributions to it, and so have finished fragment k - 2.  A rank that copies in k + 1 has
 *      seen a result of k - 1; there are four sets, so k - 3 was there before.
 */
#include "alg/reduction.h"
#include "shape/delegates.h"

enum { PARTIALS_SETS = 4 };

struct slot {
    mem_flag made[SHAPE_LEVELS], result[SHAPE_LEVELS];
    _Alignas(HUD_LINE) uint64_t at;
};

enum param { FRAGMENT, BUDGET, DEPTH };

static const struct alg_param params[] = {
    [FRAGMENT] = { "fragment", "B", "bytes of a piece of a slice; 0: what the window holds", 0,
                   1 << 24, 0, NULL, .per_call = true },
    [BUDGET] = { "budget", "B", "bytes of the window, four fragments; 0: what the lease holds", 0,
                 1 << 24, 96 << 10, NULL },
    [DEPTH] = { "depth", "1",
                "levels of groups, from the top down, that partial results are made for", 0,
                SHAPE_LEVELS, SHAPE_LEVELS, NULL, .per_call = true, .tune = "1" },
    { .name = NULL },
};

static size_t window_bytes(const long *param, int ranks, size_t max_bytes)
{
    (void)ranks;
    return cut_window_bytes(PARTIALS_SETS, param[BUDGET], max_bytes);
}

struct partials {
    struct mem *m;
    const struct coll *c;
    const struct shape_groups *groups;
    int me, base, top; /* base, top: the lowest level of units, and the highest */
    struct pieces cut;
};

static char *cell_of(const struct partials *s, const struct pieces_place *f, int rank,
                     const struct piece *piece)
{
    return (char *)mem_window(s->m, rank) + pieces_at(&s->cut, f, piece);
}

/* The highest level whose unit's delegate a rank is; base - 1: none. */
static int highest_level(const struct partials *s, int rank, const struct piece *piece)
{
    return delegates_highest(s->groups, s->base, rank, piece->owner);
}

/* This rank's contributions; but where it reduces its unit's, its own stays where it is. */
static void contribute(const struct partials *s, const struct pieces_place *f)
{
    struct slot *mine = mem_slot(s->m, s->me);

    for (struct piece piece = pieces_before(f); pieces_each(&s->cut, f, &piece);)
        if (highest_level(s, s->me, &piece) < s->base)
            mem_in_all(s->m, cell_of(s, f, s->me, &piece), s->c->in, piece.offset_bytes,
                       piece.bytes);
    mem_post(s->m, &mine->made[s->base], f->at + 1); /* R1 */
}

/* What the others below this rank's unit have made of a piece; its own part is the first source. */
static void add_below(const struct partials *s, const struct pieces_place *f,
                      const struct piece *piece, int level, struct sources *x)
{
    int below = level == s->base ? -1 : level - 1;

    for (int unit = shape_leader(s->groups, level, s->me); unit >= 0;
         unit = delegates_next(s->groups, level, below, unit)) {
        int rank = delegates_of(s->groups, below, unit, piece->owner);
        struct slot *other = mem_slot(s->m, rank);
        if (rank == s->me)
            continue;
        mem_await(s->m, &other->made[level], f->at + 1); /* A1 */
        sources_add(x, (struct mem_span){ .shared = cell_of(s, f, rank, piece) });
    }
}

static void sum_piece(const struct partials *s, const struct pieces_place *f,
                      const struct piece *piece, int level)
{
    const struct mem_span in = { .view = s->c->in, .offset_bytes = piece->offset_bytes };
    const struct mem_span out = { .view = s->c->out, .offset_bytes = piece->offset_bytes };
    const struct mem_span cell = { .shared = cell_of(s, f, s->me, piece) };
    struct sources x;
    bool last = level == s->top;

    sources_begin(&x, s->m, s->c, &cell, piece->bytes);
    sources_add(&x, level == s->base ? in : cell);
    add_below(s, f, piece, level, &x);
    sources_reduce(&x, last ? &out : &cell, last ? &cell : NULL);
}

/* All pieces for which this rank is its unit's delegate at a level; false: there is none.  At the
 * top the result goes to `out`, too. */
static bool reduce_pieces(const struct partials *s, const struct pieces_place *f, int level)
{
    bool any = false;

    for (struct piece piece = pieces_before(f); pieces_each(&s->cut, f, &piece);)
        if (piece.bytes != 0 && highest_level(s, s->me, &piece) >= level) {
            sum_piece(s, f, &piece, level);
            any = true;
        }
    return any;
}

/* The partial results of this rank's unit at a level below the top. */
static void make_partials(const struct partials *s, const struct pieces_place *f, int level)
{
    struct slot *mine = mem_slot(s->m, s->me);

    if (reduce_pieces(s, f, level))
        mem_post(s->m, &mine->made[level + 1], f->at + 1); /* R1 */
}

/* Up the levels, as far as this rank is a delegate: at the top it is the owner, and has results. */
static void reduce_up(const struct partials *s, const struct pieces_place *f)
{
    struct slot *mine = mem_slot(s->m, s->me);

    for (int level = s->base; level < s->top; level++)
        make_partials(s, f, level);
    if (reduce_pieces(s, f, s->top))
        mem_post(s->m, &mine->result[s->top], f->at + 1); /* R2 */
}

/* From the delegate of the unit above `level`; a delegate at that level itself keeps it for the
 * ranks below. */
static void fetch(const struct partials *s, const struct pieces_place *f, const struct piece *piece,
                  int level)
{
    int from =
        delegates_of(s->groups, level + 1, shape_leader(s->groups, level + 1, s->me), piece->owner);
    struct slot *above = mem_slot(s->m, from);
    char *result = cell_of(s, f, from, piece), *mine = cell_of(s, f, s->me, piece);

    mem_await(s->m, &above->result[highest_level(s, from, piece)], f->at + 1); /* A2 */
    if (level >= s->base)
        mem_copy(s->m, mine, result, piece->bytes);
    mem_out(s->m, s->c->out, level >= s->base ? mine : result, piece->offset_bytes, piece->bytes);
}

static void copy_down(const struct partials *s, const struct pieces_place *f)
{
    struct slot *mine = mem_slot(s->m, s->me);

    for (int level = s->top - 1; level >= s->base - 1; level--) {
        bool any = false;
        for (struct piece piece = pieces_before(f); pieces_each(&s->cut, f, &piece);)
            if (piece.bytes != 0 && highest_level(s, s->me, &piece) == level) {
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
    struct slot *mine = mem_slot(m, mem_rank(m));
    struct partials s = { .m = m,
                          .c = c,
                          .groups = c->groups,
                          .me = mem_rank(m),
                          .base = base > 0 ? base : 0,
                          .top = top };
    struct pieces_place now = { .at = mem_get(m, &mine->at) }, next;

    s.cut = cut_of(c, mem_size(m), NULL, PARTIALS_SETS, c->param[FRAGMENT]);
    pieces_begin(&s.cut, &now);
    for (contribute(&s, &now); pieces_more(&s.cut, &now); now = next) {
        next = now;
        pieces_next(&s.cut, &next);
        reduce_up(&s, &now);
        if (pieces_more(&s.cut, &next))
            contribute(&s, &next);
        copy_down(&s, &now);
    }
    mem_put(m, &mine->at, now.at);
}

static const struct alg_family family = {
    .params = params,
    .fixed_bytes = sizeof(struct slot),
    .window_bytes = window_bytes,
};

ALG_DEFINE(allreduce, levels) = {
    .coll = "allreduce",
    .name = "levels",
    .doc = "slices, of which each NUMA node or socket makes a partial result, and only that "
           "crosses to the others",
    .source = "this project, after papers 05 (slices) and 03 (groups)",
    .family = &family,
    .run = allreduce_levels,
};
