/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * one_way.h - gather(v)/windows and scatter(v)/windows: blocks that go one way, to the root or from
 * it, through a window of their sender.  Here: what a sender may write again.  blocks.h: how a
 * block goes.  direct_blocks.h: which the kernel copies.  gather.c, scatter.c: who sends to whom.
 *
 * A sender of tiles does not wait for acknowledgements, so it may be operations ahead of its
 * receivers.  It has a ring of cells for each receiver of an operation, used by operation number,
 * in two halves (q = 2 of paper 01's sets).  A short block travels in its cell, whose first line
 * has its flag.  What is longer is cut into tiles, which lie in the sender's window in the order in
 * which they were written, as far ahead as there is room; short blocks only in the window's first
 * pages.  The kernel copies blocks of `single` bytes and more (alg/direct.h).  Tiles carry what it
 * does not copy, and meanwhile some blocks of that size as well (`tiled`).
 *
 * Line                       written by  read by      value means
 *   slot[s].cell[d][k % R],  s           d            see blocks.h
 *   .more
 *   slot[d].taken[s]         d           s            (k, n): d has finished all operations before
 *                                                     k.  n = 1: where s's block of operation k
 *                                                     goes (nowhere: in tiles), or how much d has
 *                                                     pulled, is here.
 *                                                     1 + t: d has consumed t of its tiles.  All:
 *                                                     d discards the rest
 *   slot[d].done             d           senders      d has finished all operations up to k
 *   slot[s].tile, .to        s           s            (plain) tiles that are not known to be
 *                                                     consumed; whom s sent to in operation k
 *
 * Edges     R2 -> A2   a copy out of a tile, and all  happen before   the sender's next copy into
 *                      copies out of cells of a half                  those bytes, or cells
 *                      where a block goes             happens before  the kernel's copy of it
 *
 * Deadlock freedom
 *   1. A receiver waits for what its sender announces in the same operation.  A sender waits for
 *      receivers to consume tiles that it has announced, or to answer what it has announced.  All
 *      wait for receivers to finish operations before their own.
 *   2. Of the ranks in the earliest operation that any has not finished, a sender waits for a
 *      receiver in that operation alone.  A receiver takes blocks in an order, and consumes all
 *      tiles that are announced of one without a wait for a rank but their sender.  In a scatter
 *      that is the root; in a gather it waits for that receiver alone.
 * Safety
 *   1. A receiver that expects zero bytes reports at once that it discards all, and reads nothing:
 *      no sender waits for it.
 *   2. A place, or an address, is used inside the call of its owner alone: the root leaves an
 *      operation once a rank that it has offered a place has announced its block by 2 k + 1; and
 *      once a rank that pulls has reported how much.
 *   3. Numbers are compared modulo 2^64, and those of `taken` have 32 bits of an operation's.  None
 *      falls behind: every 64 operations a rank reports to all others which it has finished; and a
 *      sender forgets tiles of operations that its receivers have finished.  No rank is 2^31
 *      operations ahead of another one.
 */
#ifndef HUD_ALG_ONE_WAY_H
#define HUD_ALG_ONE_WAY_H

#include "alg/direct.h"
#include "shape/tiles.h"

enum one_way_param {
    ONE_WAY_TILE,
    ONE_WAY_BUDGET,
    ONE_WAY_SINGLE,
    ONE_WAY_PIECE,
    ONE_WAY_TILED,
};

static const struct alg_param one_way_params[] = {
    [ONE_WAY_TILE] = { "tile", "B", "bytes exchanged at a time; 0: a quarter of the window", 0,
                       1 << 24, 0, NULL, .per_call = true, .tune = "8K,32K" },
    [ONE_WAY_BUDGET] = { "budget", "B", "a rank's window, up to its L3 share; 0: all", 0, 1 << 28,
                         128 << 10, NULL, .tune = "512K" },
    [ONE_WAY_SINGLE] = { "single", "B",
                         "the kernel copies blocks of so many bytes or more; 0: none", 0, 1 << 30,
                         0, NULL, .per_call = true, .tune = "256K" },
    [ONE_WAY_PIECE] = { "piece", "B",
                        "the kernel copies so many bytes at a time, of blocks of less than 2 MB; "
                        "0: a block",
                        0, 1 << 30, 0, NULL, .per_call = true, .tune_with = "single=8K" },
    [ONE_WAY_TILED] = { "tiled", "B",
                        "bytes, at most, that tiles carry while the kernel copies the other "
                        "blocks",
                        0, 1 << 30, 0, NULL, .per_call = true, .tune = "640K",
                        .tune_with = "single=8K piece=64K" },
    { .name = NULL },
};

/* Cells of a ring, at most and at least; lines of a cell, at most, and of all of a rank's; tiles
 * that are not known to be consumed; what a rank prefetches for its next operation: bytes of its
 * window, and rings: more of them would take longer than they save. */
enum { RING_MAX = 32, RING_MIN = 2, CELL_MAX = 4, LINES = 512 };
enum { AHEAD_MAX = 128, AHEAD_MIN = 16 };
enum { PREFETCH_MAX = 8192, PREFETCH_RINGS = 8 };

enum { TELL_ALL = 64 }; /* operations after which a rank reports to all others what it finished */

/* What a rank records of a tile: who consumes it, what that rank reports then, where it begins. */
enum { TILE_RECEIVER, TILE_TAKEN, TILE_AT, TILE_WORDS };

struct one_way_slot {
    _Alignas(HUD_LINE) uint64_t
        at; /* bytes since the window began; a tile begins a line and wraps around no end */
    uint64_t first, next; /* tiles [first, next) are not known to be consumed */
    uint64_t op;          /* operations so far, from the first in this slot on */
    uint64_t tile[AHEAD_MAX][TILE_WORDS];
    uint64_t to[RING_MAX]; /* a rank; itself: nobody; the number of ranks: all others */
    mem_flag more, done;
    mem_flag taken[]; /* [ranks]; then the cells */
};

/* A rank's view of its call. */
struct one_way {
    struct mem *m;
    const struct coll *c;
    struct one_way_slot *mine;
    int me, ranks;
    uint64_t ring;  /* cells of one, a power of two */
    uint64_t lines; /* of a cell */
    int receivers;  /* of one sender */
    size_t window_bytes;
    size_t direct_bytes; /* the kernel copies blocks of so many or more; 0: none */
    size_t piece_bytes;  /* so many at a time; 0: a block */
    size_t tiled_bytes;  /* tiles carry so many while the kernel copies */
    uint64_t op, at, first, next;
};

enum { ANSWERED = 1 }; /* what a receiver reports before it has consumed a tile */

/* Of so many lines: cells of a ring for each receiver, and lines of a cell. */
struct one_way_rings {
    uint64_t cells, lines;
};

static inline struct one_way_rings one_way_rings(uint64_t lines, int receivers)
{
    struct one_way_rings r = { .cells = RING_MAX };

    while (r.cells > RING_MIN && r.cells * (uint64_t)receivers > lines)
        r.cells /= 2;
    uint64_t each = r.cells * (uint64_t)receivers;
    r.lines = each * CELL_MAX <= lines ? CELL_MAX : each <= lines ? lines / each : 1;
    return r;
}

/* Half as much as the window, up to a limit. */
static inline size_t one_way_lines_bytes(int ranks, int receivers, size_t window_bytes)
{
    size_t lines = window_bytes / 2 / HUD_LINE;
    const struct one_way_rings r = one_way_rings(lines < LINES ? lines : LINES, receivers);

    return sizeof(struct one_way_slot) +
           ((size_t)ranks + (size_t)receivers * r.cells * r.lines) * sizeof(mem_flag);
}

/* Those of a slot that has so many bytes. */
static inline struct one_way_rings one_way_rings_of(size_t slot_bytes, int ranks, int receivers)
{
    size_t lines = (slot_bytes - sizeof(struct one_way_slot)) / HUD_LINE - (size_t)ranks;

    return one_way_rings(lines, receivers);
}

static inline size_t one_way_window_bytes(const long *param, int ranks, size_t max_bytes)
{
    (void)ranks;
    return tiles_window_of((size_t)param[ONE_WAY_BUDGET], max_bytes);
}

/* The place of an operation in a ring; no division, which takes as long as a short copy. */
static inline uint64_t one_way_place(const struct one_way *x, uint64_t op)
{
    return op & (x->ring - 1);
}

/* The first line of a sender's cell for its receiver number d of an operation. */
static inline mem_flag *one_way_cell(const struct one_way *x, int sender, int d, uint64_t op)
{
    struct one_way_slot *slot = mem_slot(x->m, sender);

    return &slot->taken[(uint64_t)x->ranks +
                        ((uint64_t)d * x->ring + one_way_place(x, op)) * x->lines];
}

/* The k-th rank after this one. */
static inline int one_way_next(const struct one_way *x, int k)
{
    return x->me + k < x->ranks ? x->me + k : x->me + k - x->ranks;
}

/* Which rank after the root this one is. */
static inline int one_way_number(const struct one_way *x)
{
    return x->me > x->c->root ? x->me - x->c->root : x->me - x->c->root + x->ranks;
}

/* ---- receivers tell senders ---- */

static inline uint64_t one_way_count(uint64_t op, uint64_t number)
{
    return op << 32 | number;
}

static inline void one_way_tell(const struct one_way *x, int sender, uint64_t op, uint64_t number)
{
    mem_post(x->m, &x->mine->taken[sender], one_way_count(op, number)); /* R2 */
}

static inline uint64_t one_way_await(const struct one_way *x, int receiver, uint64_t count)
{
    struct one_way_slot *slot = mem_slot(x->m, receiver);
    mem_flag *taken = &slot->taken[x->me];

    return mem_await(x->m, taken, count); /* A2 */
}

/* ---- a call ---- */

static inline void one_way_await_done(const struct one_way *x, int receiver, uint64_t op)
{
    struct one_way_slot *slot = mem_slot(x->m, receiver);

    if (receiver != x->me)
        mem_await(x->m, &slot->done, op); /* A2 */
}

/* Before the first write to cells of a half: their receivers have finished with them, and with
 * tiles of those operations.  A record of these that stays would be compared with numbers that are
 * 2^31 operations further. */
static inline void one_way_enter_half(struct one_way *x)
{
    uint64_t op = x->op, half = x->ring / 2, last = (uint64_t)x->me;

    for (uint64_t k = op > x->ring ? op - x->ring : 1; k < op - half; k++) {
        uint64_t to = mem_get(x->m, &x->mine->to[one_way_place(x, k)]);
        bool all = to == (uint64_t)x->ranks;
        for (int r = all ? 0 : (int)to; to != last && r < (all ? x->ranks : (int)to + 1); r++)
            one_way_await_done(x, r, op - half - 1);
        last = to;
    }
    while (x->first != x->next &&
           (int64_t)(mem_get(x->m, &x->mine->tile[x->first % AHEAD_MAX][TILE_TAKEN]) -
                     one_way_count(op - half, 0)) < 0)
        x->first++;
}

/* receivers: of one sender, in an operation; to: as in the slot.  Written where it stays: a copy on
 * the stack, by words of another width, would wait for the stores. */
static inline void one_way_begin(struct one_way *x, struct mem *m, const struct coll *c,
                                 int receivers, int to)
{
    x->m = m;
    x->c = c;
    x->me = mem_rank(m);
    x->ranks = mem_size(m);
    x->mine = mem_slot(m, x->me);
    x->receivers = receivers;
    const struct one_way_rings r = one_way_rings_of(c->place->slot_bytes, x->ranks, receivers);
    x->ring = r.cells;
    x->lines = r.lines;
    x->window_bytes = tiles_window(c->place->window_bytes, c->cache_bytes);
    x->direct_bytes = (size_t)c->param[ONE_WAY_SINGLE];
    x->piece_bytes = (size_t)c->param[ONE_WAY_PIECE];
    x->tiled_bytes = (size_t)c->param[ONE_WAY_TILED];
    x->at = mem_get(m, &x->mine->at);
    x->first = mem_get(m, &x->mine->first);
    x->next = mem_get(m, &x->mine->next);
    x->op = mem_get(m, &x->mine->op) + 1;
    if ((x->op & (x->ring / 2 - 1)) == 0 && x->op >= x->ring)
        one_way_enter_half(x);
    mem_put(m, &x->mine->to[one_way_place(x, x->op)], (uint64_t)to);
}

static inline void one_way_end(const struct one_way *x)
{
    mem_put(x->m, &x->mine->at, x->at);
    mem_put(x->m, &x->mine->first, x->first);
    mem_put(x->m, &x->mine->next, x->next);
    mem_put(x->m, &x->mine->op, x->op);
    if (((x->op + 1) & (x->ring / 2 - 1)) == 0)
        mem_post(x->m, &x->mine->done, x->op); /* R2 */
    for (int r = 0; x->op % TELL_ALL == 0 && r < x->ranks; r++)
        if (r != x->me)
            one_way_tell(x, r, x->op + 1, 0);
}

/* What the rows of gather(v) and scatter(v) have. */
#define ONE_WAY_ALG(coll_, doc_)                                                                   \
    .coll = #coll_, .name = "windows", .doc = doc_,                                                \
    .source = "this project, after papers 01 (sets) and 02 (tiles)", .family = &family,            \
    .run = coll_##_windows

#endif
