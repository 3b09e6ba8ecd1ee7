/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * slices_steps.h - what a rank does with a fragment in the family `slices` (slices.h).
 *
 * Positions count fragments over all operations of the family.
 *
 * Line              written by   read by                  value k means
 *   slot[r].in      r            all others               r's contributions to fragment k - 1 are
 *                                                         in its window; r has left fragment k - 2
 *   slot[r].result  r            who copies results out   r's piece of fragment k - 1 is in its
 *                                                         window
 *   slot[r].at      r            r                        (plain) r's position
 *
 * Edges     R1 -> A1   a rank's contributions to a fragment      happen before  the owners' reading
 *                      them
 *                      a rank's last reads of the one before  happen before  the others' next
 *                      writes to its set
 *           R2 -> A2   an owner's result                         happens before  the others'
 *                      copying it out
 */
#ifndef HUD_ALG_SLICES_STEPS_H
#define HUD_ALG_SLICES_STEPS_H

#include "alg/cut.h"
#include "alg/sources.h"

enum { SLICES_SETS = 2 };

struct slices_slot {
    mem_flag in, result;
    _Alignas(HUD_LINE) uint64_t at;
    _Alignas(HUD_LINE) char data[]; /* two sets of cells */
};

/* What a collective makes of the family, on one rank. */
struct slices_way {
    int first, count; /* owners */
    bool keeps;       /* an owner has the result of its own piece in its out */
    bool publishes;   /* an owner has it in its window, for others to copy */
    bool collects;    /* this rank copies out what others own */
    bool
        blocks; /* the slices are c->block_bytes, and out is the own one; else out is all of them */
    bool all_in; /* also the own piece's contribution goes through the window: out lies across in */
};

struct slices {
    struct mem *m;
    const struct coll *c;
    struct slices_way way;
    struct pieces cut;
};

static inline int slices_rank(const struct slices *s, const struct piece *piece)
{
    return (s->way.first + piece->owner) % mem_size(s->m);
}

/* In a rank's window: its contribution to another's piece, or the result of its own. */
static inline void *slices_cell(const struct slices *s, const struct pieces_place *f, int rank,
                                const struct piece *piece)
{
    struct slices_slot *slot = mem_slot(s->m, rank);

    return slot->data + pieces_at(&s->cut, f, piece);
}

static inline void slices_contribute(const struct slices *s, const struct pieces_place *f)
{
    int me = mem_rank(s->m);
    struct slices_slot *mine = mem_slot(s->m, me);
    struct piece piece = pieces_before(f);

    while (pieces_each(&s->cut, f, &piece)) {
        if (s->way.all_in || slices_rank(s, &piece) != me)
            mem_in_all(s->m, slices_cell(s, f, me, &piece), &s->c->in, piece.offset_bytes,
                       piece.bytes);
    }
    mem_post(s->m, &mine->in, f->at + 1); /* R1 */
}

static inline void slices_await(const struct slices *s, const struct pieces_place *f)
{
    int me = mem_rank(s->m), ranks = mem_size(s->m);

    for (int k = 1; k < ranks; k++) {
        struct slices_slot *other = mem_slot(s->m, (me + k) % ranks);
        mem_await(s->m, &other->in, f->at + 1); /* A1 */
    }
}

/*
 * The own piece.  Where the result goes to both places it is made in out and copied to the window:
 * lines that others have read are slow to write, and a copy does that best (two ranks, 64K in
 * pieces of 32K: 12 us instead of 14, line transfer 55 ns).
 */
static inline void slices_reduce(const struct slices *s, const struct pieces_place *f,
                                 const struct piece *piece)
{
    int me = mem_rank(s->m);
    size_t done = s->way.blocks ? f->done_bytes : piece->offset_bytes;
    const struct mem_span own = { .view = &s->c->in, .offset_bytes = piece->offset_bytes };
    const struct mem_span out = { .view = &s->c->out, .offset_bytes = done },
                          cell = { .shared = slices_cell(s, f, me, piece) };
    struct sources all;

    sources_begin(&all, s->m, s->c, s->way.all_in ? &out : &cell, piece->bytes);
    for (int r = 0; r < mem_size(s->m); r++)
        sources_add(&all, r == me && !s->way.all_in
                              ? own
                              : (struct mem_span){ .shared = slices_cell(s, f, r, piece) });
    sources_reduce(&all, s->way.keeps ? &out : &cell,
                   s->way.publishes && s->way.keeps ? &cell : NULL);
}

static inline void slices_own(const struct slices *s, const struct pieces_place *f)
{
    struct slices_slot *mine = mem_slot(s->m, mem_rank(s->m));
    struct piece piece = pieces_before(f);

    while (pieces_each(&s->cut, f, &piece)) {
        if (slices_rank(s, &piece) != mem_rank(s->m) || piece.bytes == 0)
            continue;
        slices_reduce(s, f, &piece);
        if (s->way.publishes)
            mem_post(s->m, &mine->result, f->at + 1); /* R2 */
    }
}

static inline void slices_collect(const struct slices *s, const struct pieces_place *f)
{
    struct piece piece = pieces_before(f);

    while (pieces_each(&s->cut, f, &piece)) {
        int rank = slices_rank(s, &piece);
        struct slices_slot *owner = mem_slot(s->m, rank);
        if (rank == mem_rank(s->m) || piece.bytes == 0)
            continue;
        mem_await(s->m, &owner->result, f->at + 1); /* A2 */
        mem_out(s->m, &s->c->out, slices_cell(s, f, rank, &piece), piece.offset_bytes, piece.bytes);
    }
}

#endif
