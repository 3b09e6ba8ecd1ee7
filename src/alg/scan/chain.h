/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * chain.h - the ring of cells through which a rank of scan/chain or exscan/chain (chain.c) passes
 * its sums to the next rank.
 *
 * Positions count fragments within a call, and advance by a constant from call to call of the
 * family.  So a call begins at the same position on all ranks, whatever their counts were before.
 * Cells are used in turn over all calls.  Each rank counts its own cells, and tells its successor
 * the number in each call.
 * The successor returns the lines of a cell that its owner does not read: all cells of exscan, and
 * those of rank 0 (mem_reduce_as).
 *
 * Line              written by   read by         value k means
 *   slot[r].sent    r            its successor   the sums of the fragments before k, of the ranks
 *                                                up to r, are or were in r's window.  With it,
 *                                                for the last calls: the first cell of each,
 *                                                and its fragments
 *   slot[r].done    r            its             r needs no sum of a fragment before k any more;
 *                                predecessor     after a call's last one, k begins the next
 *   slot[r].calls,  r            r               (plain) calls and cells so far
 *     .cells
 *   slot[r].freed   r            r               (plain) the last value seen in its successor's
 *                                                `done`
 *   slot[r].until   r            r               (plain) for each cell, the successor's `done`
 *                                                after reading the cell
 *
 * Edges     R1 -> A1   a sum in the window              happens before  the successor's reading it
 *           R2 -> A2   a rank's reads of a cell of its  happen before   the next write there
 *                      predecessor's
 *
 * Deadlock freedom
 *   1. For fragment k a rank waits for its predecessor's sum of k, and for its successor to have
 *      finished the fragment that used the cell before.  The first of the ranks at the earliest
 *      fragment waits for no other rank.
 * Safety
 *   1. The last rank has no successor, and writes no cell.  Rank 0 reads no other rank's cells.
 *   2. Counts may differ between ranks: such a call has a wrong result, or ranks wait in it and the
 *      mismatch is found.  Later calls are right if all ranks have made this call here; a rank
 *      whose count is zero has not.  A rank with fewer fragments frees all cells of the call with
 *      its last fragment.  A rank with more fragments may read cells of later calls, but frees none
 *      of them before it makes those calls itself.  It also returns no lines of these cells,
 *      because its predecessor may be writing there.
 */
#ifndef HUD_ALG_CHAIN_H
#define HUD_ALG_CHAIN_H

#include "alg/reduction.h"

/* Limits of the number of cells of a window; within them, there are as many as have room for an
 * element.  A cell that is reused soon is still in the caches of its reader, from where each write
 * takes the lines (lab/evidence/E72.csv). */
enum { CHAIN_CELLS_MIN = 4, CHAIN_CELLS_MAX = 12 };

/* CHAIN_FRAGMENTS: bits of a position that count fragments of a call.  CHAIN_ANNOUNCED: number of
 * calls whose first cells are kept; more than cells, so a successor has read the entry before a
 * later call overwrites it.  CHAIN_CELL: bits of the number of a first cell. */
enum { CHAIN_FRAGMENTS = 32, CHAIN_ANNOUNCED = 14, CHAIN_CELL = 8 };

struct chain_slot {
    mem_flag sent, done;
    _Alignas(HUD_LINE) uint64_t calls;
    uint64_t cells, freed, until[CHAIN_CELLS_MAX];
};

/* A call on a rank of the chain. */
struct chain {
    struct mem *m;
    const struct coll *c;
    struct chain_slot *mine, *before, *after; /* slots; NULL if there is no such rank */
    uint64_t cells;                           /* number of cells of a window */
    size_t cell_bytes;
    uint64_t call;     /* number of earlier calls of the family; a position holds its low 32 bits */
    uint64_t at, done; /* position of the fragment; position of the next fragment */
    uint64_t own, befores; /* numbers of the fragment's cell at this rank and at its predecessor */
    uint64_t announced;    /* number of fragments of its predecessor in this call */
    bool exclusive;
};

static inline void *chain_own_cell(const struct chain *x)
{
    return (char *)mem_window(x->m, mem_rank(x->m)) + x->own % x->cells * x->cell_bytes;
}

static inline void *chain_befores_cell(const struct chain *x)
{
    return (char *)mem_window(x->m, mem_rank(x->m) - 1) + x->befores % x->cells * x->cell_bytes;
}

/* Waits until this rank's cell of the fragment is free, and records when the successor will have
 * read the new contents. */
static inline void chain_take_cell(const struct chain *x)
{
    uint64_t *until = &x->mine->until[x->own % x->cells], min = mem_get(x->m, until);

    if ((int64_t)(min - mem_get(x->m, &x->mine->freed)) > 0) {
        uint64_t freed = mem_await(x->m, &x->after->done, min); /* A2 */
        mem_put(x->m, &x->mine->freed, freed);
    }
    mem_put(x->m, until, x->done);
}

/* Reports whether no other rank reads the predecessor's sum of this fragment: the predecessor takes
 * its result from elsewhere. */
static inline bool chain_reads_last(const struct chain *x)
{
    uint64_t fragment = x->at & (((uint64_t)1 << CHAIN_FRAGMENTS) - 1);

    return (x->exclusive || mem_rank(x->m) == 1) && fragment < x->announced;
}

/* Writes this rank's sum of a fragment into its cell, for the successor. */
static inline void chain_send(const struct chain *x, const struct mem_span *own, size_t bytes)
{
    const struct mem_span to = { .shared = chain_own_cell(x) };
    struct sources sum;

    chain_take_cell(x);
    if (!x->before) {
        mem_in_all(x->m, to.shared, own->view, own->offset_bytes, bytes);
    } else {
        sources_begin(&sum, x->m, x->c, &to, bytes);
        sources_add(&sum, (struct mem_span){ .shared = chain_befores_cell(x) });
        sources_add(&sum, *own);
        sources_reduce_as(&sum, &to, NULL, !x->exclusive && chain_reads_last(x));
    }
    mem_post(x->m, &x->mine->sent, x->at + 1); /* R1 */
}

/* Waits for the predecessor's sum of this fragment.  `first` is true for the first fragment of a
 * call. */
static inline void chain_receive(struct chain *x, bool first)
{
    mem_await(x->m, &x->before->sent, x->at + 1); /* A1 */
    if (!first)
        return;
    uint64_t announced = mem_get(x->m, &x->before->sent.payload[x->call % CHAIN_ANNOUNCED]);
    x->befores = announced % (1 << CHAIN_CELL);
    x->announced = announced >> CHAIN_CELL;
}

/* Publishes, before the first fragment of a call, the number of the fragment's cell and the number
 * of fragments, for the successor. */
static inline void chain_announce(const struct chain *x, uint64_t fragments)
{
    mem_put(x->m, &x->mine->sent.payload[x->call % CHAIN_ANNOUNCED],
            fragments << CHAIN_CELL | x->own % x->cells);
}

/* Reports to the predecessor that its sum is not needed any more. */
static inline void chain_release(const struct chain *x)
{
    mem_post(x->m, &x->mine->done, x->done); /* R2 */
}

#endif
