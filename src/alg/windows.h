/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * windows.h - an exchange by tiles through a window of each rank: alltoall/windows and alltoallv/windows, one family, are this.
 *
 * Source    paper 02, "Alltoall: data tiling": tiles that fit the cache, not blocks, are exchanged in turn.  Ours: partners that meet in pairs, and one
 *           window per rank for all of them, a ring whose tiles are given back in the order in which they were written.
 * Shape     p ranks, who meet in steps, by pairs (shape/meetings.h): so no rank is read by two in one step, and both directions go at once.  A rank writes the
 *           tiles for its partners into its own window, in the order of steps, as far ahead as there is room, and copies out of its partners' windows in
 *           the same order, having written its own tile k of that step before it takes its partner's tile k.
 * Cost      T = (p - 1) (n / f (l + 2 f t)) + n t   ns; f bytes of a tile, t ns per byte copied in cache; steps overlap as far as windows allow
 *           traffic: 2 (p - 1) n bytes beyond in and out, in cache while the window is; the own block goes from in to out
 *           per rank 456 bytes for each other rank, and the window
 * Accepts   any block, if the lease has a window: the slot needs 456 bytes for each rank and some lines, so 200 ranks 90K, where the built-in table's other windows
 *           take as much each.  A pair whose block is of zero bytes costs two stores into lines that nobody reads, and no wait.
 *
 * Concurrency (paper 02's limit of readers): a source has one reader in a step.  Of n ranks on each of G NUMA nodes at most n - n / G + 2 read from other nodes, and
 * n / G + 1 from any one (by r + q mod p: in some step all n from one node, in another none): meetings within nodes and between them are mixed, and the ways between
 * nodes used evenly.  A lower limit would need ranks that wait: which pairs of a step go first changes nothing in the order in which a rank meets the others.
 *
 * Why it ends.  A rank waits in two places.  For tile k of step s: its partner has then not written it.  Or, before it may write tile k of step s, for
 * a rank that has not left a tile that was written before, so one of an earlier (s, k).  Say a rank is at (s, k) until it has taken tile k of step s, where there is one, and
 * has written its own.  As it never waits for room but for a tile due at or before where it is, everybody waits for a rank at an earlier (s, k), or for one
 * at the same that is to write and so waits for an earlier one: whoever is at the least waits for nobody.  Lengths do not matter, nor does how many tiles a window holds.
 *
 * Tile size (paper 02: what fits the shared cache, and so depends on the ranks on it): all tiles of a rank that are out fit its share of the largest cache that
 * ranks share, since the window is no larger; a tile is a quarter of that.
 *
 * Why in place is right.  Tiles are full but for the last, so tile k is the same bytes of the block both ways, and the own was copied in before.
 *
 * A block that is shorter than its receiver expects ends where its last tile says so, or where its sender says that there is none; what is longer than the view is
 * dropped, and the call reports that.  Whoever expects zero bytes says at once that it has left all, so that nobody waits for it, and looks at nothing: it does not
 * hear of what is sent to it all the same.  Flags and tiles are counted within an operation, so nothing of that is found by a later one.
 *
 * Lines and edges are windows_ring.h's.
 */
#ifndef HUD_ALG_WINDOWS_H
#define HUD_ALG_WINDOWS_H

#include "alg/windows_ring.h"
#include "shape/meetings.h"

#define WINDOWS_PARAMS                                                                                                                     \
    {                                                                                                                                      \
        [WINDOWS_TILE] = { "tile", "B", "bytes exchanged at a time; 0: a quarter of the window", 0, 1 << 24, 0, NULL, true, "8K,32K" },    \
        [WINDOWS_BUDGET] = { "budget", "B", "a rank's window, up to its L3 share; 0: all", 0, 1 << 28, 128 << 10, NULL, .tune = "512K" },  \
        { .name = NULL },                                                                                                                  \
    }

enum { WINDOWS_RANK = 32, WINDOWS_BATCH = 64 }; /* bits of a word of the order that tell the rank; words that are sorted at a time */

/* The next words of the order after one (0: the first), ascending.  Returns how many: 0 at the end. */
static inline int windows_batch(const struct meetings *o, const struct meetings_rank *me, uint64_t after, uint64_t word[WINDOWS_BATCH])
{
    struct meetings_rank other = meetings_none;
    int count = 0;

    while (meetings_next(o, &other)) {
        uint64_t meeting = (uint64_t)(1 + meetings_step(o, me, &other)) << WINDOWS_RANK | (uint64_t)other.rank;
        if (other.rank == me->rank || meeting <= after || (count == WINDOWS_BATCH && meeting > word[count - 1]))
            continue;
        int at = count < WINDOWS_BATCH ? count++ : count - 1;
        for (; at > 0 && word[at - 1] > meeting; at--)
            word[at] = word[at - 1];
        word[at] = meeting;
    }
    return count;
}

/* Sorts the other ranks by the steps in which this one meets them. */
static inline void windows_meet(const struct windows *w)
{
    const struct meetings o = meetings_of(w->c->groups);
    struct meetings_rank me = meetings_none;
    uint64_t word[WINDOWS_BATCH], after = 0, *order = windows_order(w);
    int met = 0;

    while (meetings_next(&o, &me) && me.rank != w->me)
        ;
    for (int count; (count = windows_batch(&o, &me, after, word)) != 0; after = word[count - 1])
        for (int i = 0; i < count; i++)
            mem_put(w->m, &order[met++], word[i]);
    mem_put(w->m, &w->mine->met, (uint64_t)met);
}

/* A block of the call: where it begins, in which view, and its bytes. */
struct windows_block {
    struct mem_span span;
    size_t bytes;
};

static inline struct windows_block windows_block(const struct coll *c, const struct hud_view *whole, const struct hud_view *parts, int rank)
{
    if (parts)
        return (struct windows_block){ { .view = &parts[rank] }, parts[rank].bytes };
    return (struct windows_block){ { .view = whole, .offset_bytes = (size_t)rank * c->bytes }, c->bytes };
}

static inline struct windows_block windows_in(const struct windows *w, int rank)
{
    return windows_block(w->c, &w->c->in, w->c->ins, rank);
}

static inline struct windows_block windows_out(const struct windows *w, int rank)
{
    return windows_block(w->c, &w->c->out, w->c->outs, rank);
}

/* Whom this rank meets so many-th, from 0 on. */
static inline int windows_partner(const struct windows *w, int turn)
{
    return (int)(uint32_t)mem_get(w->m, windows_order(w) + turn);
}

/* The next tile for the partner may travel in its line: it is small, and the last one there was left. */
static inline bool windows_is_small(const struct windows *w, int line, size_t bytes)
{
    return bytes <= WINDOWS_SMALL &&
           mem_get(w->m, windows_known(w, w->peer, WINDOWS_HEARD)) > mem_get(w->m, windows_known(w, w->peer, WINDOWS_SMALL_OP + line));
}

/* Remembers a tile that is out. */
static inline void windows_remember(struct windows *w, int line, bool small)
{
    struct mem *m = w->m;
    uint64_t op = w->op, *out = w->mine->out[w->next++ % WINDOWS_AHEAD];

    mem_put(m, &out[WINDOWS_PEER], (uint64_t)w->peer);
    mem_put(m, &out[WINDOWS_COUNT], w->tile + 1);
    mem_put(m, &out[WINDOWS_OP], op);
    mem_put(m, &out[WINDOWS_AT], w->at);
    mem_put(m, windows_known(w, w->peer, WINDOWS_LAST_OP + (int)(op % 2)), op);
    mem_put(m, windows_known(w, w->peer, WINDOWS_LAST + (int)(op % 2)), w->tile + 1);
    if (small)
        mem_put(m, windows_known(w, w->peer, WINDOWS_SMALL_OP + line), op);
}

/* Writes the next tile; false: there is no room for it yet and nobody waited. */
static inline bool windows_write_tile(struct windows *w, const struct windows_block *in, bool wait)
{
    size_t done = w->tile * w->tile_bytes, rest = in->bytes - done, bytes = rest < w->tile_bytes ? rest : w->tile_bytes;
    int place = windows_place(w->op, w->tile), line = place % 2;
    mem_flag *full = &w->mine->to[w->peer].full[line];
    bool small = windows_is_small(w, line, bytes);
    size_t room = small ? 0 : mem_lines(bytes);

    if (!windows_make_room(w, room, wait))
        return false;
    uint64_t notice = windows_notice(w->at % w->window_bytes, bytes, small, bytes < rest);
    char *data = windows_data(w, w->mine, full, notice);
    mem_in_all(w->m, data, in->span.view, in->span.offset_bytes + done, bytes);
    windows_remember(w, line, small);
    mem_put(w->m, &full->payload[place / 2], notice);
    windows_tell(w, full, ++w->tile);
    w->at += room;
    return true;
}

/* Writes the next tile, or says that the partner gets none; false: all is written, or there is no room yet and nobody waited. */
static inline bool windows_write(struct windows *w, bool wait)
{
    if (w->turn == w->ranks - 1)
        return false;
    w->peer = windows_partner(w, w->turn);
    const struct windows_block in = windows_in(w, w->peer);
    if (!windows_may_tell(w, wait))
        return false;
    if (in.bytes == 0)
        windows_tell(w, &w->mine->to[w->peer].full[w->op % 2], 0);
    else if (!windows_write_tile(w, &in, wait))
        return false;
    if (w->tile * w->tile_bytes >= in.bytes) {
        w->turn++;
        w->tile = 0;
    }
    return true;
}

/* Takes the block of a turn's partner, tile by tile, each once the own tile of that turn and number is written. */
static inline void windows_take(struct windows *w, int turn, int peer)
{
    struct windows_slot *from = mem_slot(w->m, peer);
    struct windows_lines *mine = &w->mine->to[peer];
    struct windows_block out = windows_out(w, peer);
    uint64_t op = w->op, tile = 0, notice;

    do {
        int place = windows_place(op, tile);
        mem_flag *full = &from->to[w->me].full[place % 2];
        while (w->turn < turn || (w->turn == turn && w->tile <= tile))
            windows_write(w, true);
        while (windows_write(w, false))
            ;
        if (!windows_hear(w, full, tile))
            break;
        notice = mem_get(w->m, &full->payload[place / 2]);
        mem_out(w->m, out.span.view, windows_data(w, from, full, notice), out.span.offset_bytes, windows_bytes(notice));
        out.span.offset_bytes += windows_bytes(notice);
        windows_leave(w, peer, ++tile);
    } while (notice & WINDOWS_MORE);
    mem_put(w->m, windows_known(w, peer, WINDOWS_HEARD), op);
    mem_claim(w->m, &mine->full[(op + 1) % 2], sizeof mine->full[0]);
}

/* Tells those of whom this rank expects nothing that it has left all. */
static inline void windows_decline(const struct windows *w)
{
    for (int peer = 0; w->c->outs && peer < w->ranks; peer++)
        if (peer != w->me && windows_out(w, peer).bytes == 0)
            windows_leave(w, peer, windows_all);
}

/* Takes the bytes of the window back that the next operation, if it is like this one, writes first. */
static inline void windows_claim(struct windows *w, uint64_t began)
{
    size_t bytes = w->at - began < WINDOWS_CLAIMED ? w->at - began : WINDOWS_CLAIMED;

    if (bytes != 0 && bytes <= w->window_bytes && windows_make_room(w, bytes, false))
        mem_claim(w->m, windows_data(w, w->mine, NULL, windows_notice(w->at % w->window_bytes, 0, false, false)), bytes);
}

static inline void windows_take_own(struct windows *w)
{
    struct windows_block in = windows_in(w, w->me), out = windows_out(w, w->me);

    if (in.span.view->base != out.span.view->base)
        mem_move(w->m, &out.span, &in.span, in.bytes);
}

static inline void windows_run(struct mem *m, const struct coll *c)
{
    struct windows w = { .m = m, .c = c, .mine = mem_slot(m, mem_rank(m)), .me = mem_rank(m), .ranks = mem_size(m) };

    w.window_bytes = windows_window(c, w.ranks);
    w.tile_bytes = windows_tile(c->param, w.window_bytes);
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

#endif
