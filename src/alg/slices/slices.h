/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * slices.h - the family `slices`: the result is cut over ranks that own its slices, and an owner
 * reduces its slice of all contributions in one pass.  allreduce.c, reduce.c and reduce_scatter.c
 * differ in a `struct slices_plan`.
 *
 * Source    this project, after paper 05: queues served by active waiting, no barrier on the path.
 * Shape     p ranks, n bytes, by fragments, each with a piece of every owner's slice.  Owners are
 *           ranks first, first + 1, ... around; how slices are cut: shape/pieces.h.  The window of
 *           a rank has two sets of cells.  The cells of other owners hold the rank's contributions
 *           to their pieces, its own cell the result of its own piece.  For a fragment a rank
 *             copies its contributions in, but for its own piece | awaits all others' |
 *             reduces its piece, in rank order, and announces it | copies the others' results out
 * Cost      of each collective in its file: F fragments, l ns one line transfer, t ns per byte
 *           copied, r ns per byte that a reduction reads; traffic in bytes beyond those read from
 *           `in` and written to `out`.
 * Returned  lines of contributions, by the owner of the slice (mem_reduce_as); of results, by a
 *           rank that alone copies them out.
 * Accepts   any n, if the lease has a window.
 *
 * Positions count fragments over all operations of the family.
 *
 * Line              written by   read by                  value k means
 *   slot[r].in      r            all others               r's contributions to fragment k - 1 are
 *                                                         in its window; r has finished fragment
 *                                                         k - 2
 *   slot[r].result  r            ranks that copy it out   r's piece of fragment k - 1 is in its
 *                                                         window
 *   slot[r].at      r            r                        (plain) r's position
 *
 * Edges     R1 -> A1   a rank's contributions to a fragment      happen before  the owners' reading
 *                      them
 *                      a rank's last reads of fragment k - 1     happen before  the others' next
 *                      writes to its set
 *           R2 -> A2   an owner's result                         happens before  the others' copy
 *                      out
 *
 * Not needed
 *   R2, A2 by reduce_scatter/slices: no rank copies another's result out
 *
 * Deadlock freedom
 *   1. All ranks go through the same fragments in the same order.  A rank that waits in fragment k
 *      waits for another rank's contributions to it, which that rank announces before it waits in
 *      k; or for a result, whose owner waits only for contributions.
 * Safety
 *   1. No acknowledgement is needed.  A rank that has announced its contributions to fragment k
 *      has finished fragment k - 1.  So a rank that has awaited all of these may write the set of
 *      k - 1 again, for k + 1.
 *   2. reduce_scatter in place: `out` is the beginning of `in`, and a byte's offset in its message
 *      is at least its offset in its block.  So all bytes that a fragment overwrites in `out` have
 *      been copied in with that fragment or an earlier one (`all_in`).
 *
 * There are two sets, not three: a third would let a rank copy in k + 1 before it copies out k.
 * Larger pieces gain more, because fewer lines are still modified in the L1 cache of another
 * processor.
 */
#ifndef HUD_ALG_SLICES_H
#define HUD_ALG_SLICES_H

#include "alg/reduction.h"

enum slices_param { SLICES_FRAGMENT, SLICES_BUDGET };

enum { SLICES_SETS = 2 };

struct slices_slot {
    mem_flag in, result;
    _Alignas(HUD_LINE) uint64_t at;
};

/* What a rank of a collective does. */
struct slices_plan {
    int first, count; /* owners */
    bool keeps;       /* an owner has the result of its own piece in `out` */
    bool publishes;   /* an owner has the result in its window, for others to copy */
    bool collects;    /* this rank copies out the results of other owners */
    bool alone;       /* no other rank copies results out */
    bool blocks;      /* the slices are c->block_bytes, and `out` is this rank's slice; otherwise
                         `out` is the whole result */
    bool all_in;      /* its own contribution goes through the window, too, because `out`
                         overlaps `in` */
};

struct slices {
    struct mem *m;
    const struct coll *c;
    struct slices_plan plan;
    struct pieces cut;
};

ALG_INLINE int slices_rank(const struct slices *s, const struct piece *piece)
{
    return (s->plan.first + piece->owner) % mem_size(s->m);
}

/* Returns a cell in a rank's window: its contribution to another rank's piece, or the result of its
 * own piece. */
ALG_INLINE void *slices_cell(const struct slices *s, const struct pieces_place *f, int rank,
                             const struct piece *piece)
{
    return (char *)mem_window(s->m, rank) + pieces_at(&s->cut, f, piece);
}

ALG_INLINE void slices_contribute(const struct slices *s, const struct pieces_place *f)
{
    int me = mem_rank(s->m);
    struct slices_slot *mine = mem_slot(s->m, me);
    struct piece piece = pieces_before(f);

    while (pieces_each(&s->cut, f, &piece)) {
        if (s->plan.all_in || slices_rank(s, &piece) != me)
            mem_in_all(s->m, slices_cell(s, f, me, &piece), s->c->in, piece.offset_bytes,
                       piece.bytes);
    }
    mem_post(s->m, &mine->in, f->at + 1); /* R1 */
}

ALG_INLINE void slices_await_contributions(const struct slices *s, const struct pieces_place *f)
{
    int me = mem_rank(s->m), ranks = mem_size(s->m);

    for (int k = 1; k < ranks; k++) {
        struct slices_slot *other = mem_slot(s->m, (me + k) % ranks);
        mem_await(s->m, &other->in, f->at + 1); /* A1 */
    }
}

/*
 * Reduces this rank's piece.  A result for both places is computed in `out` and copied to the
 * window: lines that others have read are slow to write, and a copy writes them fastest.
 */
ALG_INLINE void slices_reduce_piece(const struct slices *s, const struct pieces_place *f,
                                    const struct piece *piece)
{
    int me = mem_rank(s->m);
    size_t done = s->plan.blocks ? f->done_bytes : piece->offset_bytes;
    const struct mem_span own = { .view = s->c->in, .offset_bytes = piece->offset_bytes };
    const struct mem_span out = { .view = s->c->out, .offset_bytes = done },
                          cell = { .shared = slices_cell(s, f, me, piece) };
    struct sources all;

    sources_begin(&all, s->m, s->c, s->plan.all_in ? &out : &cell, piece->bytes);
    for (int r = 0; r < mem_size(s->m); r++)
        sources_add(&all, r == me && !s->plan.all_in
                              ? own
                              : (struct mem_span){ .shared = slices_cell(s, f, r, piece) });
    sources_reduce_as(&all, s->plan.keeps ? &out : &cell,
                      s->plan.publishes && s->plan.keeps ? &cell : NULL, true);
}

ALG_INLINE void slices_reduce_own(const struct slices *s, const struct pieces_place *f)
{
    struct slices_slot *mine = mem_slot(s->m, mem_rank(s->m));
    struct piece piece = pieces_before(f);

    while (pieces_each(&s->cut, f, &piece)) {
        if (slices_rank(s, &piece) != mem_rank(s->m) || piece.bytes == 0)
            continue;
        slices_reduce_piece(s, f, &piece);
        if (s->plan.publishes)
            mem_post(s->m, &mine->result, f->at + 1); /* R2 */
    }
}

ALG_INLINE void slices_copy_out(const struct slices *s, const struct pieces_place *f)
{
    struct piece piece = pieces_before(f);

    while (pieces_each(&s->cut, f, &piece)) {
        int rank = slices_rank(s, &piece);
        struct slices_slot *owner = mem_slot(s->m, rank);
        if (rank == mem_rank(s->m) || piece.bytes == 0)
            continue;
        mem_await(s->m, &owner->result, f->at + 1); /* A2 */
        const void *cell = slices_cell(s, f, rank, &piece);
        mem_out_as(s->m, s->c->out, cell, piece.offset_bytes, piece.bytes, s->plan.alone);
    }
}

ALG_INLINE void slices_run(struct mem *m, const struct coll *c, const struct slices_plan *plan)
{
    const size_t *blocks = plan->blocks ? c->block_bytes : NULL;
    struct pieces cut = cut_of(c, plan->count, blocks, SLICES_SETS, c->param[SLICES_FRAGMENT]);
    struct slices s = { .m = m, .c = c, .plan = *plan, .cut = cut };
    struct slices_slot *mine = mem_slot(m, mem_rank(m));
    struct pieces_place now = { .at = mem_get(m, &mine->at) };

    for (pieces_begin(&s.cut, &now); pieces_more(&s.cut, &now); pieces_next(&s.cut, &now)) {
        slices_contribute(&s, &now);
        slices_await_contributions(&s, &now);
        slices_reduce_own(&s, &now);
        if (plan->collects)
            slices_copy_out(&s, &now);
    }
    mem_put(m, &mine->at, now.at);
}

extern const struct alg_family HUD_BACKEND(slices_family);

/* Fields that all rows of the family share. */
#define SLICES_ALG(coll_, doc_)                                                                    \
    .coll = #coll_, .name = "slices", .doc = doc_, .source = "this project, after paper 05",       \
    .ordered = true, .family = &HUD_BACKEND(slices_family), .run = coll_##_slices

#endif
