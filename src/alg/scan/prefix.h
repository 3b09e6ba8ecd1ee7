/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * prefix.h - the family of scan/inline and scan/segments, and of the same algorithms of exscan: the
 * data that a rank publishes are behind one flag, the first bytes in the flag's own line, and the
 * ranks above read them there.
 *
 * Source    this project, after allreduce/inline; the ring of lines and its reuse by halves as in
 *           reduce/inline, after paper 01's sets (q = 2).
 * Accepts   n + 16 bytes in a cell.
 *
 * Rank 0 waits for no other rank, and no other rank reads the last rank's contribution.  So
 * contributions are in a ring of PREFIX_RING cells, used by operation number, in two halves.
 * Before a half begins, a rank makes sure that all ranks above it have finished the half before
 * last.
 *
 * Line                       written by   read by           value k means
 *   slot[r].cell[k % RING]   r            the ranks above   r's contribution to operation k is
 *                                                           behind this flag; segments, of the last
 *                                                           of one: the sum of its segment
 *   slot[r].done             r            the ranks below   r has finished all operations up to k
 *
 * Edges     R1 -> A1   a contribution or sum  happens before  the reads of it
 *           R2 -> A2   a rank's reads of a    happen before   the next writes of the ranks below it
 *                      half                                   to that half
 *
 * Deadlock freedom
 *   1. A rank posts its contribution before it waits for contributions to the same operation.
 *   2. At the beginning of a half a rank waits for ranks that have yet to enter an earlier
 *      operation.  The lowest of the ranks in the earliest operation waits for no other rank.
 * Safety
 *   1. With more ranks than one reduction can read, the result so far is in `out`, which may be
 *      `in`.  Then a rank's own contribution is read in shared memory, where even the last rank
 *      copies it.
 */
#ifndef HUD_ALG_PREFIX_H
#define HUD_ALG_PREFIX_H

#include "alg/reduction.h"

enum { PREFIX_RING = 16, PREFIX_HALF = PREFIX_RING / 2 };

enum prefix_param { PREFIX_BUDGET, PREFIX_SEGMENT };

struct prefix_slot {
    mem_flag done;
    char cells[];
};

/* A call, as its algorithm sees it. */
struct prefix {
    struct mem *m;
    const struct coll *c;
    int me, ranks;
};

static inline struct prefix prefix_of(struct mem *m, const struct coll *c)
{
    return (struct prefix){ .m = m, .c = c, .me = mem_rank(m), .ranks = mem_size(m) };
}

static inline size_t prefix_cell_bytes(const struct coll *c)
{
    return (c->place->slot_bytes - sizeof(struct prefix_slot)) / PREFIX_RING / HUD_LINE * HUD_LINE;
}

static inline mem_flag *prefix_cell(const struct prefix *p, uint64_t op, int rank)
{
    struct prefix_slot *slot = mem_slot(p->m, rank);

    return (mem_flag *)(slot->cells + op % PREFIX_RING * prefix_cell_bytes(p->c));
}

/* Returns the data that a rank has published in this operation.  prefix_own_span() returns this
 * rank's own contribution. */
static inline struct mem_span prefix_cell_span(const struct prefix *p, int rank)
{
    return (struct mem_span){ .shared = contribution_at(prefix_cell(p, p->c->op, rank)) };
}

static inline struct mem_span prefix_own_span(const struct prefix *p)
{
    return contribution_stays(p->m) ? (struct mem_span){ .view = p->c->in }
                                    : prefix_cell_span(p, p->me);
}

/* Waits, before the first write to a half, until its readers have finished with the last use. */
static inline void prefix_enter(const struct prefix *p)
{
    if (p->c->op % PREFIX_HALF != 0 || p->c->op < PREFIX_RING)
        return;
    for (int r = p->me + 1; r < p->ranks; r++) {
        struct prefix_slot *reader = mem_slot(p->m, r);
        mem_await(p->m, &reader->done, p->c->op - PREFIX_HALF - 1); /* A2 */
    }
}

/* Announces that this rank's data are in its cell. */
static inline void prefix_announce(const struct prefix *p)
{
    mem_flag *cell = prefix_cell(p, p->c->op, p->me);

    mem_post(p->m, cell, p->c->op); /* R1 */
}

static inline void prefix_contribute(const struct prefix *p)
{
    mem_flag *cell = prefix_cell(p, p->c->op, p->me);
    bool last = p->me == p->ranks - 1;

    prefix_enter(p);
    if (!last || !contribution_stays(p->m))
        mem_in_all(p->m, contribution_at(cell), p->c->in, 0, p->c->bytes);
    if (!last)
        prefix_announce(p);
}

/* Waits for the data of ranks first, first + step, ... below this rank. */
static inline void prefix_await(const struct prefix *p, int first, int step)
{
    for (int r = first; r < p->me; r += step) {
        mem_flag *cell = prefix_cell(p, p->c->op, r);
        contribution_expect(p->m, p->c, cell, prefix_cell(p, p->c->op + 1, r));
        mem_await(p->m, cell, p->c->op); /* A1 */
    }
}

/* Adds the data of ranks first, first + step, ... before `end` as sources. */
static inline void prefix_add(const struct prefix *p, int first, int end, int step,
                              struct sources *all)
{
    for (int r = first; r < end; r += step)
        sources_add(all, prefix_cell_span(p, r));
}

/* Writes the result, if this rank has any, and ends the operation. */
static inline void prefix_finish(const struct prefix *p, const struct sources *all,
                                 const struct mem_span *out)
{
    struct prefix_slot *mine = mem_slot(p->m, p->me);

    if (all->count > 0)
        sources_reduce(all, out, NULL);
    if ((p->c->op + 1) % PREFIX_HALF == 0)
        mem_post(p->m, &mine->done, p->c->op); /* R2 */
    if (p->me < p->ranks - 1)
        contribution_prefetch(p->m, p->c, prefix_cell(p, p->c->op + 1, p->me));
}

extern const struct alg_family HUD_BACKEND(prefix_family);

static inline bool prefix_accepts(const struct coll *c, int ranks)
{
    (void)ranks;
    return c->bytes <= prefix_cell_bytes(c) - (HUD_LINE - CONTRIBUTION_LINE);
}

#endif
