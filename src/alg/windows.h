/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * windows.h - an exchange by tiles through a window of each rank: alltoall/windows and
 * alltoallv/windows, one family, are this.
 *
 * Source    paper 02, "Alltoall: data tiling": tiles that fit the cache, not blocks, are exchanged
 *           in turn.  Ours: partners that meet in pairs, and one window per rank for all of them, a
 *           ring whose tiles are given back in the order in which they were written.
 * Shape     p ranks, who meet in steps, by pairs (shape/meetings.h): so no rank is read by two in
 *           one step, and both directions go at once.  A rank writes the tiles for its partners
 *           into its own window, in the order of steps, as far ahead as there is room, and copies
 *           out of its partners' windows in the same order, having written its own tile k of that
 *           step before it takes its partner's tile k.
 * Cost      T = (p - 1) (n / f (l + 2 f t)) + n t   ns; f bytes of a tile, t ns per byte copied in
 *           cache; steps overlap as far as windows allow traffic: 2 (p - 1) n bytes beyond in and
 *           out, in cache while the window is; the own block goes from in to out per rank 456 bytes
 *           for each other rank, and the window
 * Accepts   any block, if the lease has a window: the slot needs 456 bytes for each rank and some
 *           lines, so 200 ranks 90K, where the built-in table's other windows take as much each.  A
 *           pair whose block is of zero bytes costs two stores into lines that nobody reads, and no
 *           wait.
 *
 * Concurrency (paper 02's limit of readers): a source has one reader in a step.  Of n ranks on each
 * of G NUMA nodes at most n - n / G + 2 read from other nodes, and n / G + 1 from any one (by r + q
 * mod p: in some step all n from one node, in another none): meetings within nodes and between them
 * are mixed, and the ways between nodes used evenly.  A lower limit would need ranks that wait:
 * which pairs of a step go first changes nothing in the order in which a rank meets the others.
 *
 * Why it ends.  A rank waits in two places.  For tile k of step s: its partner has then not written
 * it.  Or, before it may write tile k of step s, for a rank that has not left a tile that was
 * written before, so one of an earlier (s, k).  Say a rank is at (s, k) until it has taken tile k
 * of step s, where there is one, and has written its own.  As it never waits for room but for a
 * tile due at or before where it is, everybody waits for a rank at an earlier (s, k), or for one at
 * the same that is to write and so waits for an earlier one: whoever is at the least waits for
 * nobody.  Lengths do not matter, nor does how many tiles a window holds.
 *
 * Tile size (paper 02: what fits the shared cache, and so depends on the ranks on it): all tiles of
 * a rank that are out fit its share of the largest cache that ranks share, since the window is no
 * larger; a tile is a quarter of that.
 *
 * Why in place is right.  Tiles are full but for the last, so tile k is the same bytes of the block
 * both ways, and the own was copied in before.
 *
 * A block that is shorter than its receiver expects ends where its last tile says so, or where its
 * sender says that there is none; what is longer than the view is dropped, and the call reports
 * that.  Whoever expects zero bytes says at once that it has left all, so that nobody waits for it,
 * and looks at nothing: it does not hear of what is sent to it all the same.  Flags and tiles are
 * counted within an operation, so nothing of that is found by a later one.
 *
 * Lines and edges are windows_slot.h's and windows_pair.h's.
 */
#ifndef HUD_ALG_WINDOWS_H
#define HUD_ALG_WINDOWS_H

#include "alg/windows_write.h"

/* Takes the block of a turn's partner, tile by tile, each once the own tile of that turn and number
 * is written. */
static inline void windows_take(struct windows *w, int turn, int peer)
{
    struct windows_slot *from = mem_slot(w->m, peer);
    struct windows_lines *mine = &w->mine->to[peer];
    struct windows_block out = windows_out(w, peer);
    uint64_t op = w->op, tile = 0, notice;

    do {
        int place = tiles_place(op, tile);
        mem_flag *full = &from->to[w->me].full[place % 2];
        while (w->turn < turn || (w->turn == turn && w->tile <= tile))
            windows_write(w, true);
        while (windows_write(w, false))
            ;
        if (!windows_hear(w, full, tile))
            break;
        notice = mem_get(w->m, &full->payload[place / 2]);
        mem_out(w->m, out.span.view, windows_data(w, from, full, notice), out.span.offset_bytes,
                tiles_notice_bytes(notice));
        out.span.offset_bytes += tiles_notice_bytes(notice);
        windows_leave(w, peer, ++tile);
    } while (notice & TILES_MORE);
    mem_put(w->m, windows_known(w, peer, WINDOWS_HEARD), op);
    mem_claim(w->m, &mine->full[(op + 1) % 2], sizeof mine->full[0]);
}

/* Tells those of whom this rank expects nothing that it has left all. */
static inline void windows_decline(const struct windows *w)
{
    for (int peer = 0; w->c->outs && peer < w->ranks; peer++)
        if (peer != w->me && windows_out(w, peer).bytes == 0)
            windows_leave(w, peer, tiles_all);
}

static inline void windows_take_own(struct windows *w)
{
    struct windows_block in = windows_in(w, w->me), out = windows_out(w, w->me);

    if (in.span.view->base != out.span.view->base)
        mem_move(w->m, &out.span, &in.span, in.bytes);
}

static inline void windows_exchange(struct mem *m, const struct coll *c, bool same)
{
    struct windows w = { .m = m,
                         .c = c,
                         .mine = mem_slot(m, mem_rank(m)),
                         .me = mem_rank(m),
                         .ranks = mem_size(m),
                         .same = same };

    w.window_bytes = tiles_window(c->slot_bytes - windows_head_bytes(w.ranks), c->cache_bytes);
    w.tile_bytes = tiles_bytes((size_t)c->param[WINDOWS_TILE], w.window_bytes);
    w.op = mem_get(m, &w.mine->op) + 1;
    w.at = mem_get(m, &w.mine->at);
    w.first = mem_get(m, &w.mine->first);
    w.next = mem_get(m, &w.mine->next);
    uint64_t began = w.at;
    if (mem_get(m, &w.mine->met) == 0)
        windows_meet(&w);
    windows_decline(&w);
    while (windows_write(&w, false))
        ;
    windows_take_own(&w);
    for (int turn = 0; turn < w.ranks - 1; turn++) {
        int peer = windows_partner(&w, turn);
        if (windows_out(&w, peer).bytes != 0)
            windows_take(&w, turn, peer);
    }
    while (windows_write(&w, true))
        ;
    windows_claim(&w, began);
    mem_put(m, &w.mine->op, w.op);
    mem_put(m, &w.mine->at, w.at);
    mem_put(m, &w.mine->first, w.first);
    mem_put(m, &w.mine->next, w.next);
}

static inline void windows_run(struct mem *m, const struct coll *c)
{
    windows_exchange(m, c, false);
}

#endif
