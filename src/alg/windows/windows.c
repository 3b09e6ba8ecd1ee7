/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * windows.c - exchanges by tiles through a window of each rank: alltoall and allgather, each with
 * equal blocks or blocks of any sizes.  Slot, lines and edges: windows.h.  The writes of a rank:
 * write.h.
 *
 * Source    paper 02, "Alltoall: data tiling": tiles that fit the cache, not blocks, are exchanged
 *           in turn.  Our additions: partners that meet in pairs, and one window per rank for all
 *           of them, a ring whose tiles are released in the order in which they were written.
 * Shape     p ranks, which meet in steps, in pairs (shape/meetings.h).  So no rank is read by two
 *           ranks in one step, and both directions of a pair are active at once.  A rank writes the
 *           tiles for its partners into its own window, in the order of steps, as far ahead as
 *           there is room.  It copies out of its partners' windows in the same order, and writes
 *           its own tile k of a step before it receives its partner's tile k.
 * Cost      T = (p - 1) (n / f (l + 2 f t)) + n t   ns; f bytes of a tile, t ns per byte copied in
 *           cache; steps overlap as far as windows allow
 *           traffic: 2 (p - 1) n bytes beyond in and out, in cache while the window is; a rank's
 *           own block goes from in to out
 *           per rank 456 bytes for each other rank, and the window
 * Accepts   any block, if the lease has a window: the slot needs 456 bytes for each rank and some
 *           lines.  A pair with a block of zero bytes costs two stores into lines that no rank
 *           reads, and no wait.
 *
 * Deadlock freedom
 *   1. A rank waits in two places: for tile k of step s, which its partner has not written; or,
 *      before it may write tile k of step s, for a rank that has not acknowledged an earlier tile,
 *      of an earlier (s, k).
 *   2. We say that a rank is at (s, k) until it has received tile k of step s, if there is one, and
 *      has written its own tile.  It waits for room only for a tile due at or before its (s, k).
 *   3. So a rank waits for a rank at an earlier (s, k), or for a rank at the same (s, k) that has
 *      yet to write and itself waits for an earlier (s, k).  A rank at the minimum waits for no
 *      other rank.  Neither lengths nor the number of tiles of a window matter.
 *
 * Safety
 *   1. In place: all tiles but the last are full, so tile k is the same bytes of the block in both
 *      directions, and a rank's own tile was copied in before.
 *   2. A block that is shorter than its receiver expects ends where its last tile's header says, or
 *      where its sender reports no tiles.  Bytes beyond the receiver's block are dropped, although
 *      a view of equal blocks continues behind it, and the call reports the truncation.
 *   3. A rank that expects zero bytes acknowledges all tiles at once, so no rank waits for it.  It
 *      reads nothing, and so does not notice data that are sent to it nevertheless.
 *   4. Flags and tiles are counted within an operation, so a later operation is not affected by 2
 *      and 3.
 */
#include "alg/windows/write.h"

/* Copies out the block of a step's partner, tile by tile.  Before each tile, writes this rank's own
 * tile of the same step and number. */
static void windows_receive(struct windows *w, int step, int peer)
{
    struct windows_slot *from = mem_slot(w->m, peer);
    struct block out = windows_out(w, peer);
    uint64_t op = w->op, tile = 0, header;
    bool more;

    do {
        int place = tiles_place(op, tile);
        mem_flag *full = &from->to[w->me].full[place % 2];
        while (w->step < step || (w->step == step && w->tile <= tile))
            windows_write(w, true);
        while (windows_write(w, false))
            ;
        if (!windows_await_tile(w, full, tile))
            break;
        header = mem_get(w->m, &full->payload[place / 2]);
        more = header & TILES_MORE;
        char *data = windows_data(w, peer, full, header);
        out.bytes -= block_out_as(w->m, &out.at, out.bytes, data, tiles_header_bytes(header), true);
        out.at.offset_bytes += tiles_header_bytes(header);
        windows_acknowledge(w, peer, ++tile);
    } while (more);
    mem_put(w->m, windows_known(w, peer, WINDOWS_CONSUMED), op - 1);
}

/* Acknowledges all tiles of the ranks from which this rank expects nothing. */
static void windows_decline(const struct windows *w)
{
    for (int peer = 0; !w->equal && peer < w->ranks; peer++)
        if (peer != w->me && windows_out(w, peer).bytes == 0)
            windows_acknowledge(w, peer, tiles_all);
}

static void windows_copy_own(const struct windows *w)
{
    const struct block in = windows_in(w, w->me), out = windows_out(w, w->me);

    block_move(w->m, &out, &in);
}

static void windows_exchange(struct mem *m, const struct coll *c, struct windows_way way)
{
    struct windows w = { .m = m,
                         .c = c,
                         .mine = mem_slot(m, mem_rank(m)),
                         .me = mem_rank(m),
                         .ranks = mem_size(m),
                         .way = way,
                         .equal = way.out == WINDOWS_EQUAL };

    w.window_bytes = tiles_window(c->place->window_bytes, c->cache_bytes);
    w.reach_bytes = w.window_bytes;
    w.tile_bytes = tiles_bytes((size_t)c->param[WINDOWS_TILE], w.window_bytes);
    w.op = mem_get(m, &w.mine->op) + 1;
    w.at = mem_get(m, &w.mine->at);
    w.first = mem_get(m, &w.mine->first);
    w.next = mem_get(m, &w.mine->next);
    uint64_t began = w.at;
    if (mem_get(m, &w.mine->met) == 0)
        mem_put(m, &w.mine->met, partners_sort(m, c, windows_order(&w)));
    windows_decline(&w);
    while (windows_write(&w, false))
        ;
    windows_copy_own(&w);
    for (int step = 0; step < w.ranks - 1; step++) {
        int peer = windows_partner(&w, step);
        if (windows_out(&w, peer).bytes != 0)
            windows_receive(&w, step, peer);
        if (windows_in(&w, peer).bytes != 0) /* the line of the next operation's first tile */
            mem_prefetch_own(m, &w.mine->to[peer].full[(w.op + 1) % 2], sizeof(mem_flag));
    }
    while (windows_write(&w, true))
        ;
    windows_prefetch(&w, began);
    mem_put(m, &w.mine->op, w.op);
    mem_put(m, &w.mine->at, w.at);
    mem_put(m, &w.mine->first, w.first);
    mem_put(m, &w.mine->next, w.next);
}

/* clang-format off */
static const struct alg_family family = {
    .params = windows_params,
    .window_bytes = windows_window_bytes,
    .lines_bytes = windows_lines_bytes,
    .walk_bytes = TILES_WALK,
};

#define WINDOWS_RUN(collective, in_cut, out_cut)                           \
    static void collective##_windows(struct mem *m, const struct coll *c)  \
    {                                                                      \
        windows_exchange(m, c, (struct windows_way){ in_cut, out_cut });   \
    }

WINDOWS_RUN(alltoall, WINDOWS_EQUAL, WINDOWS_EQUAL)
WINDOWS_RUN(alltoallv, WINDOWS_PARTS, WINDOWS_PARTS)
WINDOWS_RUN(allgather, WINDOWS_ONE, WINDOWS_EQUAL)
WINDOWS_RUN(allgatherv, WINDOWS_ONE, WINDOWS_PARTS)

#define WINDOWS_ALG(collective, does, from)                                \
    { .coll = #collective, .name = "windows", .doc = does, .source = from, \
      .family = &family, .run = collective##_windows }
#define PAPER "paper 02, Alltoall"
#define AFTER "this project, after alltoall/windows"
#define EQUAL "blocks are exchanged in tiles through a window of each rank"
#define ANY "blocks of any sizes are exchanged in tiles through a window of each rank"

ALG_DEFINE(alltoall, windows) = WINDOWS_ALG(alltoall, EQUAL, PAPER);
ALG_DEFINE(alltoallv, windows) = WINDOWS_ALG(alltoallv, ANY, PAPER);
ALG_DEFINE(allgather, windows) = WINDOWS_ALG(allgather, EQUAL, AFTER);
ALG_DEFINE(allgatherv, windows) = WINDOWS_ALG(allgatherv, ANY, AFTER);
/* clang-format on */
