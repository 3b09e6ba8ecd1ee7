/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * slices.h - the family `slices`: the result is cut over ranks that own its slices; an owner reduces its own slice of all contributions in one pass.
 *
 * The message goes by fragments, and a fragment has a piece of each owner's slice.  The slot of a rank holds two sets of cells: in the cells of
 * others lies what the rank contributes to their pieces, in its own cell the result of its own piece.  For a fragment a rank
 *
 *   copies its contributions in, but for its own piece | awaits all others' |
 *   reduces its piece, in rank order, and announces it | copies the others' results out
 *
 * No acknowledgement: who has announced its contributions to fragment k has left fragment k - 1, so who has awaited all of these may write the set
 * of k - 1 again, for k + 1.  A third set would let it copy in k + 1 before it copies out k; but large pieces do more than that: lines that lie
 * modified in the nearest cache of another processor come slowly, and of pieces of 32K most no longer do.  Two bound ranks, line transfer 56-66 ns:
 * two sets in 128K: 64K 8.4 us, 256K 32.6, 1M 148, 4M 700; three in 96K 11.1, 45.6, 140, 671, in 192K 8.3, 30.8, 140, 674.  Eight ranks on two
 * cores: 63, 258, 1104, 4580; 69, 267, 1126, 4730; 63, 254, 1058, 4320.
 *
 * Owners: ranks first, first + 1, ... around, as the collective says; how slices are cut: pieces.h.
 *
 * Positions count fragments over all operations of the family.
 *
 * Line              written by   read by                  value k means
 *   slot[r].in      r            all others               r's contributions to fragment k - 1 are in its window; r has left fragment k - 2
 *   slot[r].result  r            who copies results out   r's piece of fragment k - 1 is in its window
 *   slot[r].at      r            r                        (plain) r's position
 *
 * Edges     R1 -> A1   a rank's contributions to a fragment      happen before  the owners' reading them
 *                      a rank's last reads of the one before  happen before  the others' next writes to its set
 *           R2 -> A2   an owner's result                         happens before  the others' copying it out
 */
#ifndef HUD_ALG_SLICES_H
#define HUD_ALG_SLICES_H

#include "alg/pieces.h"
#include "alg/sources.h"

enum { SLICES_SETS = 2 };

enum slices_param { SLICES_FRAGMENT, SLICES_BUDGET };

static const struct alg_param slices_params[] = {
    [SLICES_FRAGMENT] = { "fragment", "B", "bytes of a piece of a slice; 0: what the window holds", 0, 1 << 24, 0, NULL, .per_call = true,
                          .tune = "4K,8K,16K,32K" },
    [SLICES_BUDGET] = { "budget", "B", "bytes of the window, two fragments; 0: what the lease holds", 0, 1 << 24, 252 << 10, NULL },
    { .name = NULL },
};

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
    bool blocks;      /* the slices are c->block_bytes, and out is the own one; else out is all of them */
    bool all_in;      /* also the own piece's contribution goes through the window: out lies across in */
};

struct slices {
    struct mem *m;
    struct slices_way way;
    struct pieces cut;
};

static inline size_t slices_slot_bytes(const long *param, int ranks, size_t most_bytes)
{
    (void)ranks;
    return pieces_slot_bytes(sizeof(struct slices_slot), SLICES_SETS, param[SLICES_BUDGET], most_bytes);
}

static inline int slices_rank(const struct slices *s, const struct piece *piece)
{
    return (s->way.first + piece->owner) % mem_size(s->m);
}

/* In a rank's window: its contribution to another's piece, or the result of its own. */
static inline void *slices_cell(const struct slices *s, const struct pieces_place *f, int rank, const struct piece *piece)
{
    struct slices_slot *slot = mem_slot(s->m, rank);

    return slot->data + pieces_at(&s->cut, f, piece);
}

/* ---- the steps of a rank ---- */

static inline void slices_contribute(const struct slices *s, const struct pieces_place *f)
{
    int me = mem_rank(s->m);
    struct slices_slot *mine = mem_slot(s->m, me);
    struct piece piece = pieces_before(f);

    while (pieces_each(&s->cut, f, &piece)) {
        if (s->way.all_in || slices_rank(s, &piece) != me)
            mem_in_all(s->m, slices_cell(s, f, me, &piece), &s->cut.c->in, piece.offset_bytes, piece.bytes);
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
 * The own piece.  Where the result goes to both places it is made in out and copied to the window: lines that others have read are slow to write,
 * and a copy does that best (two ranks, 64K in pieces of 32K: 12 us instead of 14, line transfer 55 ns).
 */
static inline void slices_reduce(const struct slices *s, const struct pieces_place *f, const struct piece *piece)
{
    int me = mem_rank(s->m);
    size_t done = s->way.blocks ? f->done_bytes : piece->offset_bytes;
    const struct mem_span own = { .view = &s->cut.c->in, .offset_bytes = piece->offset_bytes };
    const struct mem_span out = { .view = &s->cut.c->out, .offset_bytes = done }, cell = { .shared = slices_cell(s, f, me, piece) };
    struct sources all;

    sources_begin(&all, s->m, s->cut.c, s->way.all_in ? &out : &cell, piece->bytes);
    for (int r = 0; r < mem_size(s->m); r++)
        sources_add(&all, r == me && !s->way.all_in ? own : (struct mem_span){ .shared = slices_cell(s, f, r, piece) });
    sources_reduce(&all, s->way.keeps ? &out : &cell, s->way.publishes && s->way.keeps ? &cell : NULL);
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
        mem_out(s->m, &s->cut.c->out, slices_cell(s, f, rank, &piece), piece.offset_bytes, piece.bytes);
    }
}

static inline void slices_run(struct mem *m, const struct coll *c, const struct slices_way *way)
{
    const size_t *blocks = way->blocks ? c->block_bytes : NULL;
    struct pieces cut = pieces_cut(c, way->count, blocks, sizeof(struct slices_slot), SLICES_SETS, c->param[SLICES_FRAGMENT]);
    struct slices s = { .m = m, .way = *way, .cut = cut };
    struct slices_slot *mine = mem_slot(m, mem_rank(m));
    struct pieces_place now = { .at = mem_get(m, &mine->at) };

    for (pieces_begin(&s.cut, &now); pieces_more(&s.cut, &now); pieces_next(&s.cut, &now)) {
        slices_contribute(&s, &now);
        slices_await(&s, &now);
        slices_own(&s, &now);
        if (way->collects)
            slices_collect(&s, &now);
    }
    mem_put(m, &mine->at, now.at);
}

#endif
