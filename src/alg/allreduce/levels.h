/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * levels.h - the way up of allreduce/levels (levels.c): the cells of a rank, its contributions, and
 * the partial results that it makes of its unit's contributions.
 *
 * Edges     R1 -> A1   contributions, and partial results  happen before  the reduction of the unit
 *                      above
 */
#ifndef HUD_ALG_LEVELS_H
#define HUD_ALG_LEVELS_H

#include "alg/reduction.h"
#include "shape/delegates.h"

enum { LEVELS_SETS = 4 };

struct levels_slot {
    mem_flag made[SHAPE_LEVELS], result[SHAPE_LEVELS];
    _Alignas(HUD_LINE) uint64_t at;
};

/* A call on one rank. */
struct levels {
    struct mem *m;
    const struct coll *c;
    const struct shape_groups *groups;
    int me, base, top; /* the lowest level of units, and the highest */
    struct pieces cut;
};

static inline char *levels_cell(const struct levels *s, const struct pieces_place *f, int rank,
                                const struct piece *piece)
{
    return (char *)mem_window(s->m, rank) + pieces_at(&s->cut, f, piece);
}

/* Returns the highest level at which a rank is its unit's delegate, and base - 1 if there is
 * none. */
static inline int levels_highest(const struct levels *s, int rank, const struct piece *piece)
{
    return delegates_highest(s->groups, s->base, rank, piece->owner);
}

/* Copies this rank's contributions into its window.  Where the rank reduces its unit's
 * contributions itself, its own contribution stays in the user's buffer. */
static inline void levels_contribute(const struct levels *s, const struct pieces_place *f)
{
    struct levels_slot *mine = mem_slot(s->m, s->me);

    for (struct piece piece = pieces_before(f); pieces_each(&s->cut, f, &piece);)
        if (levels_highest(s, s->me, &piece) < s->base)
            mem_in_all(s->m, levels_cell(s, f, s->me, &piece), s->c->in, piece.offset_bytes,
                       piece.bytes);
    mem_post(s->m, &mine->made[s->base], f->at + 1); /* R1 */
}

/* Adds the parts of a piece made by the other ranks below this rank's unit.  The rank's own part is
 * already the first source. */
static inline void levels_add_below(const struct levels *s, const struct pieces_place *f,
                                    const struct piece *piece, int level, struct sources *x)
{
    int below = level == s->base ? -1 : level - 1;

    for (int unit = shape_leader(s->groups, level, s->me); unit >= 0;
         unit = delegates_next(s->groups, level, below, unit)) {
        int rank = delegates_of(s->groups, below, unit, piece->owner);
        struct levels_slot *other = mem_slot(s->m, rank);
        if (rank == s->me)
            continue;
        mem_await(s->m, &other->made[level], f->at + 1); /* A1 */
        sources_add(x, (struct mem_span){ .shared = levels_cell(s, f, rank, piece) });
    }
}

static inline void levels_sum_piece(const struct levels *s, const struct pieces_place *f,
                                    const struct piece *piece, int level)
{
    const struct mem_span in = { .view = s->c->in, .offset_bytes = piece->offset_bytes };
    const struct mem_span out = { .view = s->c->out, .offset_bytes = piece->offset_bytes };
    const struct mem_span cell = { .shared = levels_cell(s, f, s->me, piece) };
    struct sources x;
    bool last = level == s->top;

    sources_begin(&x, s->m, s->c, &cell, piece->bytes);
    sources_add(&x, level == s->base ? in : cell);
    levels_add_below(s, f, piece, level, &x);
    sources_reduce(&x, last ? &out : &cell, last ? &cell : NULL);
}

/* Reduces all pieces for which this rank is its unit's delegate at a level.  Returns false if there
 * are none.  At the top, the result is also written to `out`. */
static inline bool levels_reduce_pieces(const struct levels *s, const struct pieces_place *f,
                                        int level)
{
    bool any = false;

    for (struct piece piece = pieces_before(f); pieces_each(&s->cut, f, &piece);)
        if (piece.bytes != 0 && levels_highest(s, s->me, &piece) >= level) {
            levels_sum_piece(s, f, &piece, level);
            any = true;
        }
    return any;
}

/* Makes the partial results of this rank's unit at a level below the top. */
static inline void levels_make_partials(const struct levels *s, const struct pieces_place *f,
                                        int level)
{
    struct levels_slot *mine = mem_slot(s->m, s->me);

    if (levels_reduce_pieces(s, f, level))
        mem_post(s->m, &mine->made[level + 1], f->at + 1); /* R1 */
}

/* Reduces up the levels, as far as this rank is a delegate.  Returns true if the rank owns pieces,
 * whose results are then in its cells. */
static inline bool levels_reduce_up(const struct levels *s, const struct pieces_place *f)
{
    for (int level = s->base; level < s->top; level++)
        levels_make_partials(s, f, level);
    return levels_reduce_pieces(s, f, s->top);
}

#endif
