/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * partials.h - contributions go up the levels of groups to the owner of a piece: in each unit one
 * rank (shape/deputies.h) makes of what those below have made the unit's partial result.
 *
 * A contribution is the partial result of a unit of one rank, and those of the lowest level's ranks
 * are reduced in one step.  In a rank's cell of a piece lies its contribution; or, where it stands
 * for its unit, the partial result of the highest such unit; at last, at the owner, the result.
 * Positions count fragments over all operations.
 *
 * Line                     written by   read by                     value k means
 *   slot[r].made[l]        r            whoever stands for r's      what r made of fragment k - 1
 *                                                                   for the units at level l is in
 *                                                                   its window: its
 *                                       unit at level l             contributions (the lowest
 *                                                                   level), or the partial results
 *                                                                   of its unit below
 *   slot[r].result[l]      r            see allreduce/levels
 *
 * Edges     R1 -> A1   contributions, and partial results  happen before  the reduction of the unit
 *                      above
 */
#ifndef HUD_ALG_PARTIALS_H
#define HUD_ALG_PARTIALS_H

#include "alg/cut.h"
#include "alg/sources.h"
#include "shape/deputies.h"

enum { PARTIALS_SETS = 4 };

struct partials_slot {
    mem_flag made[SHAPE_LEVELS], result[SHAPE_LEVELS];
    _Alignas(HUD_LINE) uint64_t at;
    _Alignas(HUD_LINE) char data[]; /* four sets of cells */
};

struct partials {
    struct mem *m;
    const struct coll *c;
    const struct shape_groups *groups;
    int me, base, top; /* the lowest level of units, and the highest */
    struct pieces cut;
};

static inline char *partials_cell(const struct partials *s, const struct pieces_place *f, int rank,
                                  const struct piece *piece)
{
    return ((struct partials_slot *)mem_slot(s->m, rank))->data + pieces_at(&s->cut, f, piece);
}

/* The highest level whose unit a rank stands for; base - 1: none. */
static inline int partials_highest(const struct partials *s, int rank, const struct piece *piece)
{
    return deputies_highest(s->groups, s->base, rank, piece->owner);
}

/* The own contributions, but where the caller reduces its unit's: that one stays where it is. */
static inline void partials_contribute(const struct partials *s, const struct pieces_place *f)
{
    struct partials_slot *mine = mem_slot(s->m, s->me);

    for (struct piece piece = pieces_before(f); pieces_each(&s->cut, f, &piece);)
        if (partials_highest(s, s->me, &piece) < s->base)
            mem_in_all(s->m, partials_cell(s, f, s->me, &piece), &s->c->in, piece.offset_bytes,
                       piece.bytes);
    mem_post(s->m, &mine->made[s->base], f->at + 1); /* R1 */
}

/* What the others below the caller's unit have made of a piece; its own part is the first source.
 * */
static inline void partials_add(const struct partials *s, const struct pieces_place *f,
                                const struct piece *piece, int level, struct sources *x)
{
    int below = level == s->base ? -1 : level - 1;

    for (int unit = shape_leader(s->groups, level, s->me); unit >= 0;
         unit = deputies_next(s->groups, level, below, unit)) {
        int rank = deputies_of(s->groups, below, unit, piece->owner);
        struct partials_slot *other = mem_slot(s->m, rank);
        if (rank == s->me)
            continue;
        mem_await(s->m, &other->made[level], f->at + 1); /* A1 */
        sources_add(x, (struct mem_span){ .shared = partials_cell(s, f, rank, piece) });
    }
}

static inline void partials_sum(const struct partials *s, const struct pieces_place *f,
                                const struct piece *piece, int level)
{
    const struct mem_span in = { .view = &s->c->in, .offset_bytes = piece->offset_bytes };
    const struct mem_span out = { .view = &s->c->out, .offset_bytes = piece->offset_bytes };
    const struct mem_span cell = { .shared = partials_cell(s, f, s->me, piece) };
    struct sources x;
    bool last = level == s->top;

    sources_begin(&x, s->m, s->c, &cell, piece->bytes);
    sources_add(&x, level == s->base ? in : cell);
    partials_add(s, f, piece, level, &x);
    sources_reduce(&x, last ? &out : &cell, last ? &cell : NULL);
}

/* All pieces for which the caller stands for its unit at a level; false: there is none.  At the top
 * the result goes to `out`, too. */
static inline bool partials_reduce(const struct partials *s, const struct pieces_place *f,
                                   int level)
{
    bool any = false;

    for (struct piece piece = pieces_before(f); pieces_each(&s->cut, f, &piece);)
        if (piece.bytes != 0 && partials_highest(s, s->me, &piece) >= level) {
            partials_sum(s, f, &piece, level);
            any = true;
        }
    return any;
}

/* The partial results of the caller's unit at a level below the top. */
static inline void partials_make(const struct partials *s, const struct pieces_place *f, int level)
{
    struct partials_slot *mine = mem_slot(s->m, s->me);

    if (partials_reduce(s, f, level))
        mem_post(s->m, &mine->made[level + 1], f->at + 1); /* R1 */
}

#endif
