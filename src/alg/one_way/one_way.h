/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * one_way.h - gather(v)/windows and scatter(v)/windows: blocks that go one way, to the root or from
 * it, through a window of their sender.  gather.c, scatter.c: who sends to whom.
 *
 * A sender hears of nobody, so it may be operations ahead of its receivers.  It has a ring of lines
 * for each receiver of an operation, used by operation number, in two halves (q = 2 of paper 01's
 * sets).  A block of at most 112 bytes travels in its line.  What is longer is cut into tiles,
 * which lie in the sender's window in the order in which they were written, as far ahead as there
 * is room.  The kernel copies blocks of `single` bytes and more (alg/direct.h); tiles carry what it
 * does not copy.
 *
 * Line                       written by  read by      value means
 *   slot[s].line[d][k % R]   s           d            2 k: s asks d for a place for its block of
 *                                                     operation k (gather), or publishes where the
 *                                                     block is (scatter), so that the kernel copies
 *                                                     it.  2 k + 1: the block, or what is left of
 *                                                     it, is here, or in tiles from here on
 *   slot[s].more             s           receivers    so many tiles has s written since the lease
 *                                                     began: announces those of a block but the
 *                                                     first
 *   slot[d].taken[s]         d           s            (k, n): d has finished all operations before
 *                                                     k.  n = 1: where s's block of operation k
 *                                                     goes, or how much d has pulled, is here.
 *                                                     1 + t: d has consumed t of its tiles.  All:
 *                                                     d wants no more of it
 *   slot[d].done             d           senders      d has finished all operations up to k
 *   slot[s].tile, .to        s           s            (plain) tiles that are not known to be
 *                                                     consumed; whom s sent to in operation k
 *
 * Edges     R1 -> A1   a copy into a line or a tile   happens before  its receiver's copy out of it
 *           R2 -> A2   a copy out of a tile, and all  happen before   the sender's next copy into
 *                      copies out of lines of a half                  those bytes, or lines
 *                      where a block goes             happens before  the kernel's copy of it
 *
 * Deadlock freedom
 *   1. A receiver waits for what its sender announces in the same operation.  A sender waits for
 *      receivers to finish operations before its own, or to consume tiles that it has announced, or
 *      to answer what it has announced.
 *   2. A rank in the earliest operation that any has not finished: as a sender it waits for a
 *      receiver in that operation alone.  That one takes blocks in an order, each from a sender who
 *      waits for nobody but for it.
 * Safety
 *   1. A block that is shorter than its receiver expects ends where its line says.  What is longer
 *      than the receiver's block is dropped, and the call reports that.
 *   2. A receiver that expects zero bytes says at once that it wants no more, and reads nothing: no
 *      sender waits for it.
 *   3. A place, or an address, is used inside the call of its owner alone: the root leaves an
 *      operation once a rank that it has offered a place has announced its block by 2 k + 1; and
 *      once a rank that pulls has said how much.
 *   4. Numbers are compared modulo 2^64, and those of `taken` have 32 bits of an operation's.  None
 *      falls behind: every rank says to all others at times which operations it has finished.
 */
#ifndef HUD_ALG_ONE_WAY_H
#define HUD_ALG_ONE_WAY_H

#include "alg/direct.h"
#include "shape/tiles.h"

enum one_way_param { ONE_WAY_TILE, ONE_WAY_BUDGET, ONE_WAY_SINGLE };

static const struct alg_param one_way_params[] = {
    [ONE_WAY_TILE] = { "tile", "B", "bytes exchanged at a time; 0: a quarter of the window", 0,
                       1 << 24, 0, NULL, .per_call = true, .tune = "8K,32K" },
    [ONE_WAY_BUDGET] = { "budget", "B", "a rank's window, up to its L3 share; 0: all", 0, 1 << 28,
                         128 << 10, NULL, .tune = "512K" },
    [ONE_WAY_SINGLE] = { "single", "B",
                         "the kernel copies blocks of so many bytes or more; 0: none", 0, 1 << 30,
                         0, NULL, .per_call = true, .tune = "256K" },
    { .name = NULL },
};

/* Lines of a ring, at most and at least, and of all rings; tiles that are not known to be consumed;
 * what a rank prefetches for its next operation: bytes of its window; rings, of which more would
 * keep it longer than they save. */
enum { RING_MAX = 32, RING_MIN = 2, LINES = 512 };
enum { AHEAD_MAX = 128, AHEAD_MIN = 16 };
enum { PREFETCH_MAX = 8192, PREFETCH_RINGS = 8 };

enum { TELL_ALL = 64 }; /* operations after which a rank says to all others how far it is */

/* What a rank records of a tile: who consumes it, what that rank says then, where it begins. */
enum { TILE_RECEIVER, TILE_TAKEN, TILE_AT, TILE_WORDS };

struct one_way_slot {
    _Alignas(HUD_LINE) uint64_t
        at; /* bytes since the window began; a tile begins a line and wraps around no end */
    uint64_t first, next; /* tiles [first, next) are not known to be consumed */
    uint64_t op;          /* operations so far, from the first in this slot on */
    uint64_t tile[AHEAD_MAX][TILE_WORDS];
    uint64_t to[RING_MAX]; /* a rank; itself: nobody; the number of ranks: all others */
    mem_flag more, done;
    mem_flag taken[]; /* [ranks]; then the lines */
};

/* A rank's view of its call. */
struct one_way {
    struct mem *m;
    const struct coll *c;
    struct one_way_slot *mine;
    int me, ranks;
    uint64_t ring;  /* lines of one */
    uint64_t ahead; /* tiles, at most, that are not known to be consumed */
    size_t window_bytes, tile_bytes;
    size_t direct_bytes; /* the kernel copies blocks of so many or more; 0: none */
    uint64_t op, at, first, next;
};

/* A block of the call. */
struct one_way_block {
    struct mem_span span;
    size_t bytes;
};

/* In a line: bytes, whether they are in tiles, and whether the kernel has copied some before; then
 * the bytes of the block; or where the first tile begins, its number, and what the kernel copied.
 */
enum { HEADER, HEADER_DATA, HEADER_AT = HEADER_DATA, HEADER_NUMBER, HEADER_MOVED };
enum { IN_TILES = 1, AFTER_DIRECT = 2, HEADER_BITS = 2, IN_LINE = MEM_PAYLOAD - 8 };

enum { ANSWERED = 1 }; /* what a receiver says before it has consumed a tile */
/* Lines of a ring for each of so many receivers. */
static inline uint64_t one_way_ring(int receivers)
{
    uint64_t ring = RING_MAX;

    while (ring > RING_MIN && ring * (uint64_t)receivers > LINES)
        ring /= 2;
    return ring;
}

/* Tiles of two operations, so that a sender need not wait for receivers of its own. */
static inline uint64_t one_way_ahead(int receivers)
{
    uint64_t two = 2 * (uint64_t)receivers;

    return two < AHEAD_MIN ? AHEAD_MIN : two > AHEAD_MAX ? AHEAD_MAX : two;
}

static inline size_t one_way_lines_bytes(int ranks, int receivers)
{
    return sizeof(struct one_way_slot) +
           ((size_t)ranks + (size_t)receivers * one_way_ring(receivers)) * sizeof(mem_flag);
}

static inline size_t one_way_window_bytes(const long *param, int ranks, size_t max_bytes)
{
    (void)ranks;
    return tiles_window_of((size_t)param[ONE_WAY_BUDGET], max_bytes);
}

/* The line of a sender for its receiver number d of this operation. */
static inline mem_flag *one_way_line(const struct one_way *x, int sender, int d, uint64_t op)
{
    struct one_way_slot *slot = mem_slot(x->m, sender);

    return &slot->taken[(uint64_t)x->ranks + (uint64_t)d * x->ring + op % x->ring];
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

/* Before the first write to lines of a half: their receivers have finished with them. */
static inline void one_way_enter_half(const struct one_way *x)
{
    uint64_t op = x->op, half = x->ring / 2, last = (uint64_t)x->me;

    for (uint64_t k = op - x->ring; k < op - half; k++) {
        uint64_t to = mem_get(x->m, &x->mine->to[k % x->ring]);
        bool all = to == (uint64_t)x->ranks;
        for (int r = all ? 0 : (int)to; to != last && r < (all ? x->ranks : (int)to + 1); r++)
            one_way_await_done(x, r, op - half - 1);
        last = to;
    }
}

/* receivers: of one sender, in an operation; to: as in the slot. */
static inline struct one_way one_way_begin(struct mem *m, const struct coll *c, int receivers,
                                           int to)
{
    struct one_way x = { .m = m,
                         .c = c,
                         .mine = mem_slot(m, mem_rank(m)),
                         .me = mem_rank(m),
                         .ranks = mem_size(m),
                         .ring = one_way_ring(receivers),
                         .ahead = one_way_ahead(receivers),
                         .direct_bytes = (size_t)c->param[ONE_WAY_SINGLE] };

    x.window_bytes = tiles_window(c->place->window_bytes, c->cache_bytes);
    x.tile_bytes = tiles_bytes((size_t)c->param[ONE_WAY_TILE], x.window_bytes);
    x.at = mem_get(m, &x.mine->at);
    x.first = mem_get(m, &x.mine->first);
    x.next = mem_get(m, &x.mine->next);
    x.op = mem_get(m, &x.mine->op) + 1;
    if (x.op % (x.ring / 2) == 0 && x.op >= x.ring)
        one_way_enter_half(&x);
    mem_put(m, &x.mine->to[x.op % x.ring], (uint64_t)to);
    return x;
}

static inline void one_way_end(const struct one_way *x)
{
    mem_put(x->m, &x->mine->at, x->at);
    mem_put(x->m, &x->mine->first, x->first);
    mem_put(x->m, &x->mine->next, x->next);
    mem_put(x->m, &x->mine->op, x->op);
    if ((x->op + 1) % (x->ring / 2) == 0)
        mem_post(x->m, &x->mine->done, x->op); /* R2 */
    for (int r = 0; x->op % TELL_ALL == 0 && r < x->ranks; r++)
        if (r != x->me)
            one_way_tell(x, r, x->op + 1, 0);
}

/* ---- tiles, by their sender ---- */

/* So many bytes, in one run, are free at the window's position.  A sender that has too many tiles
 * out waits for half of them: it looks at its receiver's line once for all these. */
static inline void one_way_make_room(struct one_way *x, size_t bytes)
{
    x->at = tiles_run(x->at, bytes, x->window_bytes);
    while (x->first != x->next) {
        const uint64_t *oldest = x->mine->tile[x->first % AHEAD_MAX];
        bool many = x->next - x->first == x->ahead;
        if (!many && x->at + bytes - mem_get(x->m, &oldest[TILE_AT]) <= x->window_bytes)
            return;
        for (uint64_t i = 0; i < (many ? x->ahead / 2 : 1); i++) {
            oldest = x->mine->tile[x->first++ % AHEAD_MAX];
            one_way_await(x, (int)mem_get(x->m, &oldest[TILE_RECEIVER]),
                          mem_get(x->m, &oldest[TILE_TAKEN]));
        }
    }
}

/* Writes a tile; `count`: of those of its block, with it. */
static inline void one_way_write(struct one_way *x, int receiver, const struct mem_span *from,
                                 size_t bytes, uint64_t count)
{
    uint64_t *tile = x->mine->tile[x->next++ % AHEAD_MAX];

    mem_in_all(x->m, (char *)mem_window(x->m, x->me) + x->at % x->window_bytes, from->view,
               from->offset_bytes, bytes);
    mem_put(x->m, &tile[TILE_RECEIVER], (uint64_t)receiver);
    mem_put(x->m, &tile[TILE_TAKEN], one_way_count(x->op, ANSWERED + count));
    mem_put(x->m, &tile[TILE_AT], x->at);
    x->at += mem_lines(bytes);
}

/* Sends what is left of a block, tile by tile; the line announces the first one. */
static inline void one_way_send_tiles(struct one_way *x, int receiver, mem_flag *line,
                                      const struct one_way_block *block)
{
    struct mem_span from = block->span;

    for (size_t done = 0, count = 1; done < block->bytes; count++) {
        size_t rest = block->bytes - done, bytes = rest < x->tile_bytes ? rest : x->tile_bytes;
        one_way_make_room(x, bytes);
        if (count == 1) {
            mem_put(x->m, &line->payload[HEADER_AT], x->at);
            mem_put(x->m, &line->payload[HEADER_NUMBER], x->next);
        }
        one_way_write(x, receiver, &from, bytes, count);
        if (count == 1)
            mem_post(x->m, line, 2 * x->op + 1); /* R1 */
        else
            mem_post(x->m, &x->mine->more, x->next); /* R1 */
        done += bytes;
        from.offset_bytes += bytes;
    }
}

/* Sends a block, but for bytes that the kernel has copied; in the line where that has room. */
static inline void one_way_send(struct one_way *x, int receiver, mem_flag *line,
                                const struct one_way_block *block, size_t moved)
{
    struct one_way_block rest = *block;

    rest.span.offset_bytes += moved;
    rest.bytes -= moved;
    bool in_line = rest.bytes <= (moved == 0 ? IN_LINE : 0);
    mem_put(x->m, &line->payload[HEADER],
            (uint64_t)rest.bytes << HEADER_BITS | (in_line ? 0 : IN_TILES) |
                (moved == 0 ? 0 : AFTER_DIRECT));
    if (moved != 0)
        mem_put(x->m, &line->payload[HEADER_MOVED], moved);
    if (in_line) {
        mem_in_all(x->m, &line->payload[HEADER_DATA], rest.span.view, rest.span.offset_bytes,
                   rest.bytes);
        mem_post(x->m, line, 2 * x->op + 1); /* R1 */
    } else {
        one_way_send_tiles(x, receiver, line, &rest);
    }
}

/* The kernel copies a block. */
static inline bool one_way_is_direct(const struct one_way *x, const struct one_way_block *block)
{
    return x->direct_bytes != 0 && block->bytes >= x->direct_bytes &&
           mem_expose(x->m, block->span.view) != 0;
}

/* Asks for a place, or publishes one. */
static inline void one_way_announce(const struct one_way *x, mem_flag *line)
{
    mem_post(x->m, line, 2 * x->op); /* R1 */
}

/* The lines, and the bytes of the window, that the next operation writes if it is like this one,
 * which began there. */
static inline void one_way_prefetch(const struct one_way *x, mem_flag *line, size_t block_bytes,
                                    uint64_t began)
{
    size_t bytes = x->at - began < PREFETCH_MAX ? x->at - began : PREFETCH_MAX,
           place = x->at % x->window_bytes,
           in_line = block_bytes <= IN_LINE ? block_bytes : HEADER_MOVED * sizeof(uint64_t);

    mem_prefetch_own(x->m, line, sizeof line->value + HEADER_DATA * sizeof(uint64_t) + in_line);
    if (bytes != 0 && place + bytes <= x->window_bytes)
        mem_prefetch_own(x->m, (char *)mem_window(x->m, x->me) + place, bytes);
}

/* ---- tiles, by their receiver ---- */

/* Receives so many bytes of a sender's, tile by tile from the first one on, and drops what the
 * block has no room for. */
static inline void one_way_receive_tiles(const struct one_way *x, int sender, const mem_flag *line,
                                         struct one_way_block block, size_t bytes)
{
    struct one_way_slot *from = mem_slot(x->m, sender);
    uint64_t at = mem_get(x->m, &line->payload[HEADER_AT]),
             number = mem_get(x->m, &line->payload[HEADER_NUMBER]);

    for (size_t done = 0, count = 1; done < bytes; count++) {
        size_t rest = bytes - done, tile = rest < x->tile_bytes ? rest : x->tile_bytes;
        at = tiles_run(at, tile, x->window_bytes);
        if (count > 1)
            mem_await(x->m, &from->more, number + count); /* A1 */
        block.bytes -= block_out(x->m, &block.span, block.bytes,
                                 (char *)mem_window(x->m, sender) + at % x->window_bytes, tile);
        block.span.offset_bytes += tile;
        one_way_tell(x, sender, x->op, ANSWERED + count);
        at += mem_lines(tile);
        done += tile;
    }
}

/* Waits for a sender's announcement; true: one for the kernel's copy. */
static inline bool one_way_await_direct(const struct one_way *x, mem_flag *line)
{
    return mem_await(x->m, line, 2 * x->op) == 2 * x->op; /* A1 */
}

/* Receives a block, or what the kernel has left of it. */
static inline void one_way_receive(const struct one_way *x, int sender, mem_flag *line,
                                   struct one_way_block block)
{
    mem_await(x->m, line, 2 * x->op + 1); /* A1 */
    uint64_t header = mem_get(x->m, &line->payload[HEADER]);
    size_t bytes = header >> HEADER_BITS;

    if (header & AFTER_DIRECT) {
        size_t moved = mem_get(x->m, &line->payload[HEADER_MOVED]);
        block.span.offset_bytes += moved;
        block.bytes = block_left(block.bytes, moved);
    }
    if (header & IN_TILES)
        one_way_receive_tiles(x, sender, line, block, bytes);
    else
        block_out(x->m, &block.span, block.bytes, &line->payload[HEADER_DATA], bytes);
}

#endif
