/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * allreduce/levels.c - slices by levels: each unit's contributions to a slice are reduced inside
 * it, and only the partial result leaves it; pipelined by fragments.
 *
 * Source    this project: slices after paper 05, over paper 03's groups.
 * Shape     p ranks in L levels of groups, n bytes.  Every rank owns a slice; a rank of each unit
 *           that the owner is not in stands for the unit (shape/deputies.h), every rank for as many
 *           slices.  It reduces its unit's contributions, from below, and brings the result back
 *           for the unit to copy.
 * Cost      G units of g ranks: T = 4 F l + 2 (1 - 1/g) n t + n r + G n/p r + (1/g - 1/p) n t
 *           ns; F fragments, l one line transfer, t ns per byte copied, r ns per byte that a
 *           reduction reads; across a link (1 - 1/G) n to each unit and as much from it (slices: g
 *           times that) traffic: beyond n in and n out a rank writes (1 + 1/g) n, and reads 2 (1 -
 *           1/g) n from its unit, 2 (1/g - 1/p) n from others and n/g of its own: (3 + 2/g - 2/p)
 *           n; one unit: as slices
 * Accepts   any n, if the lease has a window.
 *
 * depth: levels, from the top down, that partial results are made for; what lies below is one unit.
 * How slices are cut: shape/pieces.h.
 *
 * Who stands for a unit brings its results into its own cells, from which those below copy them.
 * No acknowledgement: a result of fragment k tells that all have announced their contributions to
 * it, and so have left fragment k - 2.  Who copies in k + 1 has seen one of k - 1; four sets, so
 * what lies there is of k - 3.
 *
 * The way up, its lines and edges: alg/partials.h.
 *
 * Line                     written by   read by                 value k means
 *   slot[r].result[l]      r            the unit at level l     the results of fragment k - 1 are
 *                                                               in its window for which r stands
 *                                                               for this unit and none above
 *   slot[r].at             r            r                       (plain) r's position
 *
 * Edges     R2 -> A2   results, and by them all entries  happen before  the copies in the unit, and
 *                      the next writes to a set
 */
#include "alg/partials.h"

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

static size_t slot_bytes(const long *param, int ranks, size_t max_bytes)
{
    (void)ranks;
    return cut_slot_bytes(sizeof(struct partials_slot), PARTIALS_SETS, param[BUDGET], max_bytes);
}

/* Up the levels, as far as the caller stands for units: at the top it is the owner, and has
 * results. */
static void reduce(const struct partials *s, const struct pieces_place *f)
{
    struct partials_slot *mine = mem_slot(s->m, s->me);

    for (int level = s->base; level < s->top; level++)
        partials_make(s, f, level);
    if (partials_reduce(s, f, s->top))
        mem_post(s->m, &mine->result[s->top], f->at + 1); /* R2 */
}

/* From whoever stands for the unit above `level`; who stands for the unit at that level itself
 * keeps it for those below. */
static void fetch(const struct partials *s, const struct pieces_place *f, const struct piece *piece,
                  int level)
{
    int from =
        deputies_of(s->groups, level + 1, shape_leader(s->groups, level + 1, s->me), piece->owner);
    struct partials_slot *above = mem_slot(s->m, from);
    char *result = partials_cell(s, f, from, piece), *mine = partials_cell(s, f, s->me, piece);

    mem_await(s->m, &above->result[partials_highest(s, from, piece)], f->at + 1); /* A2 */
    if (level >= s->base)
        mem_copy(s->m, mine, result, piece->bytes);
    mem_out(s->m, &s->c->out, level >= s->base ? mine : result, piece->offset_bytes, piece->bytes);
}

static void collect(const struct partials *s, const struct pieces_place *f)
{
    struct partials_slot *mine = mem_slot(s->m, s->me);

    for (int level = s->top - 1; level >= s->base - 1; level--) {
        bool any = false;
        for (struct piece piece = pieces_before(f); pieces_each(&s->cut, f, &piece);)
            if (piece.bytes != 0 && partials_highest(s, s->me, &piece) == level) {
                fetch(s, f, &piece, level);
                any = true;
            }
        if (any && level >= s->base)
            mem_post(s->m, &mine->result[level], f->at + 1); /* R2 */
    }
}

static void run(struct mem *m, const struct coll *c)
{
    int top = c->groups->levels - 1, base = top - (int)c->param[DEPTH];
    struct partials_slot *mine = mem_slot(m, mem_rank(m));
    struct partials s = { .m = m,
                          .c = c,
                          .groups = c->groups,
                          .me = mem_rank(m),
                          .base = base > 0 ? base : 0,
                          .top = top };
    struct pieces_place now = { .at = mem_get(m, &mine->at) }, next;

    s.cut = cut_of(c, mem_size(m), NULL, sizeof(struct partials_slot), PARTIALS_SETS,
                   c->param[FRAGMENT]);
    pieces_begin(&s.cut, &now);
    for (partials_contribute(&s, &now); pieces_more(&s.cut, &now); now = next) {
        next = now;
        pieces_next(&s.cut, &next);
        reduce(&s, &now);
        if (pieces_more(&s.cut, &next))
            partials_contribute(&s, &next);
        collect(&s, &now);
    }
    mem_put(m, &mine->at, now.at);
}

ALG_DEFINE(allreduce, levels) = {
    .coll = "allreduce",
    .name = "levels",
    .doc = "slices, of which each NUMA node or socket makes a partial result, and only that "
           "crosses to the others",
    .source = "this project, after papers 05 (slices) and 03 (groups)",
    .params = params,
    .slot_bytes = slot_bytes,
    .run = run,
};
