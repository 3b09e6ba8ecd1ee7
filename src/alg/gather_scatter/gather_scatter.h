/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gather_scatter.h - gather(v)/windows and scatter(v)/windows: blocks that go one way, to the root
 * or from it, through a window of their sender.  This file decides when a sender may write memory
 * again.  blocks.h: the path of a block.  direct_blocks.h: which blocks the kernel copies.
 * gather.c, scatter.c: which rank sends to which.
 *
 * A sender of tiles does not wait for acknowledgements, so it may be operations ahead of its
 * receivers.  It has a ring of cells for each receiver of an operation, used by operation number,
 * in two halves (q = 2 of paper 01's sets).  A short block travels in its cell, whose first line
 * has its flag.  A longer block is cut into tiles, which are in the sender's window in the order in
 * which they were written, as far ahead as there is room; short blocks use only the window's first
 * pages.  The kernel copies blocks of at least `cma` bytes (alg/direct.h).  Tiles carry the
 * bytes that it does not copy, and meanwhile also some blocks of that size (`tiled`).
 * The receiver returns the lines of tiles (mem_out_as).
 *
 * Line                       written by  read by      value means
 *   slot[s].cell[d][k % R],  s           d            see blocks.h
 *   .more
 *   slot[d].consumed[s]      d           s            (k, n): d has finished all operations before
 *                                                     k.  n = 1: where s's block of operation k
 *                                                     goes (nowhere: in tiles), or how much d has
 *                                                     pulled, is here.
 *                                                     1 + t: d has consumed t of its tiles.  All:
 *                                                     d discards the rest
 *   slot[d].done             d           senders      d has finished all operations up to k
 *   slot[s].tile, .to        s           s            (plain) tiles that are not known to be
 *                                                     consumed; receivers of s in operation k
 *
 * Edges     R2 -> A2   a copy out of a tile, and all  happen before   the sender's next copy into
 *                      copies out of cells of a half                  those bytes, or cells
 *                      where a block goes             happens before  the kernel's copy of it
 *
 * Deadlock freedom
 *   1. A receiver waits for announcements of its sender in the same operation.  A sender waits
 *      until receivers consume tiles that it has announced, or answer its announcement.  All ranks
 *      wait for receivers to finish earlier operations.
 *   2. Among the ranks in the earliest unfinished operation, a sender waits only for a receiver in
 *      that operation.  A receiver processes blocks in a fixed order, and consumes all announced
 *      tiles of a block without waiting for any rank except their sender.  In a scatter the sender
 *      is the root; in a gather the sender waits only for that receiver.
 * Safety
 *   1. A receiver that expects zero bytes reports at once that it discards all, and reads nothing,
 *      so no sender waits for it.
 *   2. A place, or an address, is used only during the call of its owner.  The root leaves an
 *      operation only after a rank to which it has offered a place has announced its block by 2 k +
 *      1, and after a rank that pulls has reported the number of bytes.
 *   3. Numbers are compared modulo 2^64. The numbers in `consumed` have 32 bits of an operation's
 *      number.  No number falls behind: every 64 operations a rank reports to all others which
 *      operations it has finished, and a sender forgets tiles of operations that its receivers have
 *      finished.  No rank is 2^31 operations ahead of another.
 */
#ifndef HUD_ALG_GATHER_SCATTER_H
#define HUD_ALG_GATHER_SCATTER_H

#include "alg/direct.h"
#include "shape/tiles.h"

enum gather_scatter_param {
    GATHER_SCATTER_TILE,
    GATHER_SCATTER_BUDGET,
    GATHER_SCATTER_CMA,
    GATHER_SCATTER_PIECE,
    GATHER_SCATTER_TILED,
};

static const struct alg_param gather_scatter_params[] = {
    [GATHER_SCATTER_TILE] = { "tile", "B",
                              "bytes of a tile of the exchange; 0: a quarter of the window", 0,
                              1 << 24, 0, NULL, .per_call = true, .tune = "8K,32K" },
    [GATHER_SCATTER_BUDGET] = { "budget", "B",
                                "bytes of a rank's window, used up to its share of the L3 cache; "
                                "0: as much as the lease allows",
                                0, 1 << 28, 128 << 10, NULL, .tune = "512K" },
    [GATHER_SCATTER_CMA] = { "cma", "B",
                             "minimum bytes of a block that the kernel copies; 0: no block", 0,
                             1 << 30, 0, NULL, .per_call = true, .tune = "256K" },
    [GATHER_SCATTER_PIECE] = { "piece", "B",
                               "bytes of one copy by the kernel, of a block of less than 2 MB; "
                               "0: the whole block",
                               0, 1 << 30, 0, NULL, .per_call = true, .tune_with = "cma=8K" },
    [GATHER_SCATTER_TILED] = { "tiled", "B",
                               "maximum bytes that pass through tiles while the kernel copies "
                               "the other blocks",
                               0, 1 << 30, 0, NULL, .per_call = true, .tune = "640K",
                               .tune_with = "cma=8K piece=64K" },
    { .name = NULL },
};

/*
 * Limits.  RING_MAX, RING_MIN: cells of a ring.  CELL_MAX: lines of a cell.  LINES: lines of all
 * cells of a rank.  AHEAD_MAX, AHEAD_MIN: tiles that are not known to be consumed.  PREFETCH_MAX,
 * PREFETCH_RINGS: bytes of the window, and number of rings, that a rank prefetches for its next
 * operation; prefetching more would take longer than it saves.
 */
enum { RING_MAX = 32, RING_MIN = 2, CELL_MAX = 4, LINES = 512 };
enum { AHEAD_MAX = 128, AHEAD_MIN = 16 };
enum { PREFETCH_MAX = 8192, PREFETCH_RINGS = 8 };

enum {
    ACKNOWLEDGE_ALL = 64
}; /* interval, in operations, after which a rank reports its finished operations to all others */

/* What a rank records of a tile: its receiver, the report of the receiver that consumes it, and
 * where the tile begins. */
enum { TILE_RECEIVER, TILE_TAKEN, TILE_AT, TILE_WORDS };

struct gather_scatter_slot {
    _Alignas(HUD_LINE) uint64_t
        at; /* bytes since the window began; a tile begins at a line and does not wrap around the
               end */
    uint64_t first, next; /* tiles [first, next) are not known to be consumed */
    uint64_t op;          /* number of operations in this slot so far */
    uint64_t tile[AHEAD_MAX][TILE_WORDS];
    uint64_t to[RING_MAX]; /* a rank; this rank itself: no receiver; the number of ranks: all
                              others */
    mem_flag more, done;
    mem_flag consumed[]; /* [ranks]; followed by the cells */
};

/* A call on one rank. */
struct gather_scatter {
    struct mem *m;
    const struct coll *c;
    struct gather_scatter_slot *mine;
    int me, ranks;
    uint64_t ring;  /* number of cells of a ring, a power of two */
    uint64_t lines; /* number of lines of a cell */
    int receivers;  /* number of receivers of a sender */
    size_t window_bytes;
    size_t direct_bytes; /* minimum size of blocks that the kernel copies; 0: none */
    size_t piece_bytes;  /* bytes copied by the kernel at a time; 0: a block */
    size_t tiled_bytes;  /* maximum bytes that tiles carry while the kernel copies */
    uint64_t op, at, first, next;
};

enum { ANSWERED = 1 }; /* number in the report of a receiver that has not consumed a tile yet */

/* How lines are divided: number of cells of a ring for each receiver, and number of lines of a
 * cell. */
struct gather_scatter_rings {
    uint64_t cells, lines;
};

static inline struct gather_scatter_rings gather_scatter_rings(uint64_t lines, int receivers)
{
    struct gather_scatter_rings r = { .cells = RING_MAX };

    while (r.cells > RING_MIN && r.cells * (uint64_t)receivers > lines)
        r.cells /= 2;
    uint64_t each = r.cells * (uint64_t)receivers;
    r.lines = each * CELL_MAX <= lines ? CELL_MAX : each <= lines ? lines / each : 1;
    return r;
}

/* Returns the bytes of the slot.  Its cells are half as large as the window, up to a limit. */
static inline size_t gather_scatter_lines_bytes(int ranks, int receivers, size_t window_bytes)
{
    size_t lines = window_bytes / 2 / HUD_LINE;
    const struct gather_scatter_rings r =
        gather_scatter_rings(lines < LINES ? lines : LINES, receivers);

    return sizeof(struct gather_scatter_slot) +
           ((size_t)ranks + (size_t)receivers * r.cells * r.lines) * sizeof(mem_flag);
}

/* Returns the rings of a slot of slot_bytes bytes. */
static inline struct gather_scatter_rings gather_scatter_rings_of(size_t slot_bytes, int ranks,
                                                                  int receivers)
{
    size_t lines = (slot_bytes - sizeof(struct gather_scatter_slot)) / HUD_LINE - (size_t)ranks;

    return gather_scatter_rings(lines, receivers);
}

static inline size_t gather_scatter_window_bytes(const long *param, int ranks, size_t max_bytes)
{
    (void)ranks;
    return tiles_window_of((size_t)param[GATHER_SCATTER_BUDGET], max_bytes);
}

/* Returns the place of an operation in a ring, without a division, which takes as long as a short
 * copy. */
static inline uint64_t gather_scatter_place(const struct gather_scatter *x, uint64_t op)
{
    return op & (x->ring - 1);
}

/* Returns the first line of a sender's cell for its receiver number d in an operation. */
static inline mem_flag *gather_scatter_cell(const struct gather_scatter *x, int sender, int d,
                                            uint64_t op)
{
    struct gather_scatter_slot *slot = mem_slot(x->m, sender);

    return &slot->consumed[(uint64_t)x->ranks +
                           ((uint64_t)d * x->ring + gather_scatter_place(x, op)) * x->lines];
}

/* Returns the k-th rank after this rank. */
static inline int gather_scatter_next(const struct gather_scatter *x, int k)
{
    return x->me + k < x->ranks ? x->me + k : x->me + k - x->ranks;
}

/* Returns by how many ranks this rank comes after the root. */
static inline int gather_scatter_number(const struct gather_scatter *x)
{
    return x->me > x->c->root ? x->me - x->c->root : x->me - x->c->root + x->ranks;
}

/* ---- receivers acknowledge to senders ---- */

static inline uint64_t gather_scatter_count(uint64_t op, uint64_t number)
{
    return op << 32 | number;
}

static inline void gather_scatter_acknowledge(const struct gather_scatter *x, int sender,
                                              uint64_t op, uint64_t number)
{
    mem_post(x->m, &x->mine->consumed[sender], gather_scatter_count(op, number)); /* R2 */
}

static inline uint64_t gather_scatter_await(const struct gather_scatter *x, int receiver,
                                            uint64_t count)
{
    struct gather_scatter_slot *slot = mem_slot(x->m, receiver);
    mem_flag *consumed = &slot->consumed[x->me];

    return mem_await(x->m, consumed, count); /* A2 */
}

/* ---- a call ---- */

static inline void gather_scatter_await_done(const struct gather_scatter *x, int receiver,
                                             uint64_t op)
{
    struct gather_scatter_slot *slot = mem_slot(x->m, receiver);

    if (receiver != x->me)
        mem_await(x->m, &slot->done, op); /* A2 */
}

/* Waits, before the first write to cells of a half, until their receivers have finished with the
 * cells and with the tiles of these operations.  Also drops the records of these tiles, which would
 * otherwise be compared with numbers 2^31 operations later. */
static inline void gather_scatter_enter_half(struct gather_scatter *x)
{
    uint64_t op = x->op, half = x->ring / 2, last = (uint64_t)x->me;

    for (uint64_t k = op > x->ring ? op - x->ring : 1; k < op - half; k++) {
        uint64_t to = mem_get(x->m, &x->mine->to[gather_scatter_place(x, k)]);
        bool all = to == (uint64_t)x->ranks;
        for (int r = all ? 0 : (int)to; to != last && r < (all ? x->ranks : (int)to + 1); r++)
            gather_scatter_await_done(x, r, op - half - 1);
        last = to;
    }
    while (x->first != x->next &&
           (int64_t)(mem_get(x->m, &x->mine->tile[x->first % AHEAD_MAX][TILE_TAKEN]) -
                     gather_scatter_count(op - half, 0)) < 0)
        x->first++;
}

/* Begins a call.  receivers: their number for a sender.  to: as in the slot.  Fills the struct in
 * place, because a copy on the stack, by words of another width, would wait for the stores. */
static inline void gather_scatter_begin(struct gather_scatter *x, struct mem *m,
                                        const struct coll *c, int receivers, int to)
{
    x->m = m;
    x->c = c;
    x->me = mem_rank(m);
    x->ranks = mem_size(m);
    x->mine = mem_slot(m, x->me);
    x->receivers = receivers;
    const struct gather_scatter_rings r =
        gather_scatter_rings_of(c->place->slot_bytes, x->ranks, receivers);
    x->ring = r.cells;
    x->lines = r.lines;
    x->window_bytes = tiles_window(c->place->window_bytes, c->cache_bytes);
    x->direct_bytes = (size_t)c->param[GATHER_SCATTER_CMA];
    x->piece_bytes = (size_t)c->param[GATHER_SCATTER_PIECE];
    x->tiled_bytes = (size_t)c->param[GATHER_SCATTER_TILED];
    x->at = mem_get(m, &x->mine->at);
    x->first = mem_get(m, &x->mine->first);
    x->next = mem_get(m, &x->mine->next);
    x->op = mem_get(m, &x->mine->op) + 1;
    if ((x->op & (x->ring / 2 - 1)) == 0 && x->op >= x->ring)
        gather_scatter_enter_half(x);
    mem_put(m, &x->mine->to[gather_scatter_place(x, x->op)], (uint64_t)to);
}

static inline void gather_scatter_end(const struct gather_scatter *x)
{
    mem_put(x->m, &x->mine->at, x->at);
    mem_put(x->m, &x->mine->first, x->first);
    mem_put(x->m, &x->mine->next, x->next);
    mem_put(x->m, &x->mine->op, x->op);
    if (((x->op + 1) & (x->ring / 2 - 1)) == 0)
        mem_post(x->m, &x->mine->done, x->op); /* R2 */
    for (int r = 0; x->op % ACKNOWLEDGE_ALL == 0 && r < x->ranks; r++)
        if (r != x->me)
            gather_scatter_acknowledge(x, r, x->op + 1, 0);
}

/* Fields that the rows of gather(v) and scatter(v) share. */
#define GATHER_SCATTER_ALG(coll_, doc_)                                                            \
    .coll = #coll_, .name = "windows", .doc = doc_,                                                \
    .source = "this project, after papers 01 (sets) and 02 (tiles)", .family = &family,            \
    .run = coll_##_windows

#endif
