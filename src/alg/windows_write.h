/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * windows_write.h - what a rank of an exchange by windows writes: tiles for its partners, where its
 * window has room.  The window is a ring of tiles for all of them, given back in the order in which
 * they were written.
 *
 * Of a partner's having left a tile windows_pair.h hears.
 */
#ifndef HUD_ALG_WINDOWS_WRITE_H
#define HUD_ALG_WINDOWS_WRITE_H

#include "alg/windows_pair.h"

enum { WINDOWS_CLAIMED = 8192 }; /* bytes that are taken back for the next operation, at most */

/* A block of the call: where it begins, in which view, and its bytes. */
struct windows_block {
    struct mem_span span;
    size_t bytes;
};

static inline struct windows_block windows_block(const struct coll *c, const struct hud_view *whole,
                                                 const struct hud_view *parts, int rank)
{
    if (parts)
        return (struct windows_block){ { .view = &parts[rank] }, parts[rank].bytes };
    return (struct windows_block){ { .view = whole, .offset_bytes = (size_t)rank * c->bytes },
                                   c->bytes };
}

static inline struct windows_block windows_in(const struct windows *w, int rank)
{
    if (w->same && !coll_in_place(w->c))
        return (struct windows_block){ { .view = &w->c->in }, w->c->bytes };
    return windows_block(w->c, &w->c->in, w->c->ins, w->same ? w->me : rank);
}

static inline struct windows_block windows_out(const struct windows *w, int rank)
{
    return windows_block(w->c, &w->c->out, w->c->outs, rank);
}

/* The oldest tile that is out has been left; false: not yet, and nobody waited. */
static inline bool windows_reclaim(struct windows *w, bool wait)
{
    const uint64_t *oldest = w->mine->out[w->first % TILES_AHEAD];

    if (!windows_has_left(w, (int)mem_get(w->m, &oldest[WINDOWS_PEER]),
                          mem_get(w->m, &oldest[WINDOWS_OP]), mem_get(w->m, &oldest[WINDOWS_COUNT]),
                          wait))
        return false;
    w->first++;
    return true;
}

/* So many bytes, in one run, are free at the window's position; false: not yet, and nobody waited.
 * */
static inline bool windows_make_room(struct windows *w, size_t bytes, bool wait)
{
    w->at = tiles_run(w->at, bytes, w->window_bytes);
    while (w->first != w->next) {
        uint64_t from = mem_get(w->m, &w->mine->out[w->first % TILES_AHEAD][WINDOWS_AT]);
        if (w->next - w->first < TILES_AHEAD && w->at + bytes - from <= w->window_bytes)
            return true;
        if (!windows_reclaim(w, wait))
            return false;
    }
    return true;
}

/* Remembers a tile that is out. */
static inline void windows_remember(struct windows *w, int line, bool small)
{
    struct mem *m = w->m;
    uint64_t op = w->op, *out = w->mine->out[w->next++ % TILES_AHEAD];

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
    size_t done = w->tile * w->tile_bytes, rest = in->bytes - done,
           bytes = rest < w->tile_bytes ? rest : w->tile_bytes;
    int place = tiles_place(w->op, w->tile), line = place % 2;
    mem_flag *full = &w->mine->to[w->peer].full[line];
    bool small = windows_is_small(w, line, bytes);
    size_t room = small ? 0 : mem_lines(bytes);

    if (!windows_make_room(w, room, wait))
        return false;
    uint64_t notice = tiles_notice(w->at % w->window_bytes, bytes, small, bytes < rest);
    char *data = windows_data(w, w->mine, full, notice);
    mem_in_all(w->m, data, in->span.view, in->span.offset_bytes + done, bytes);
    windows_remember(w, line, small);
    mem_put(w->m, &full->payload[place / 2], notice);
    windows_tell(w, full, ++w->tile);
    w->at += room;
    return true;
}

/* Writes the next tile, or says that the partner gets none; false: all is written, or there is no
 * room yet and nobody waited. */
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

/* Takes the bytes of the window back that the next operation, if it is like this one, writes first.
 * */
static inline void windows_claim(struct windows *w, uint64_t began)
{
    size_t bytes = w->at - began < WINDOWS_CLAIMED ? w->at - began : WINDOWS_CLAIMED;

    if (bytes != 0 && bytes <= w->window_bytes && windows_make_room(w, bytes, false))
        mem_claim(
            w->m,
            windows_data(w, w->mine, NULL, tiles_notice(w->at % w->window_bytes, 0, false, false)),
            bytes);
}

#endif
