/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * write.h - the family `windows`: a rank writes the tiles for its partners into its own window, in
 * the order of steps, as far ahead as there is room.
 *
 * The window is a ring of bytes.  `at` counts the bytes written since the window began.  A tile is
 * at `at` modulo the window's bytes, in one run.  `out` has the tiles that are not known to be
 * acknowledged, the oldest first.  There is room if the oldest tile begins at most a window's bytes
 * before the end of the new tile.  Short blocks use only the window's first pages; the position
 * then advances as if the rest had been written, too.
 */
#ifndef HUD_ALG_WINDOWS_WRITE_H
#define HUD_ALG_WINDOWS_WRITE_H

#include "alg/windows/windows.h"

enum { WINDOWS_PREFETCH_MAX = 8192 }; /* bytes prefetched for the next operation */

/* Releases the oldest tile once it has been acknowledged.  Returns false if `wait` is false and the
 * acknowledgement has not arrived yet. */
static bool windows_release_oldest(struct windows *w, bool wait)
{
    const uint64_t *oldest = w->mine->out[w->first % TILES_AHEAD];

    if (!windows_is_acknowledged(w, (int)mem_get(w->m, &oldest[WINDOWS_PEER]),
                                 mem_get(w->m, &oldest[WINDOWS_OP]),
                                 mem_get(w->m, &oldest[WINDOWS_COUNT]), wait))
        return false;
    w->first++;
    return true;
}

/* Makes room for these bytes in one run within reach, at the window's position.  Returns false if
 * `wait` is false and there is no room yet. */
static bool windows_make_room(struct windows *w, size_t bytes, bool wait)
{
    w->at = tiles_run(w->at, bytes, w->window_bytes, w->reach_bytes);
    while (w->first != w->next) {
        uint64_t from = mem_get(w->m, &w->mine->out[w->first % TILES_AHEAD][WINDOWS_AT]);
        if (w->next - w->first < TILES_AHEAD && w->at + bytes - from <= w->window_bytes)
            return true;
        if (!windows_release_oldest(w, wait))
            return false;
    }
    return true;
}

/* Records a tile that has been written. */
static void windows_record(struct windows *w, int line, bool small)
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

/* Writes the next tile, into its line or the window.  Returns false if `wait` is false and there is
 * no room yet. */
static bool windows_write_tile(struct windows *w, const struct block *in, bool wait)
{
    size_t rest = in->bytes - w->done_bytes, bytes = rest < w->tile_bytes ? rest : w->tile_bytes;
    int place = tiles_place(w->op, w->tile);
    mem_flag *full = &w->mine->to[w->peer].full[place % 2];
    bool small = windows_is_small(w, place % 2, bytes);
    size_t room_bytes = small ? 0 : mem_lines(bytes);

    w->reach_bytes = small ? w->window_bytes : tiles_reach(in->bytes, w->window_bytes);
    if (!windows_make_room(w, room_bytes, wait))
        return false;
    uint64_t header = tiles_header(w->at % w->window_bytes, bytes, small, bytes < rest);
    mem_in_all(w->m, windows_data(w, w->me, full, header), in->at.view,
               in->at.offset_bytes + w->done_bytes, bytes);
    windows_record(w, place % 2, small);
    mem_put(w->m, &full->payload[place / 2], header);
    windows_announce(w, full, ++w->tile);
    w->at += room_bytes;
    w->done_bytes += bytes;
    return true;
}

/* Writes the next tile, or announces that the partner gets none.  Returns false if everything is
 * written, or if `wait` is false and there is no room yet. */
static bool windows_write(struct windows *w, bool wait)
{
    if (w->step == w->ranks - 1)
        return false;
    w->peer = windows_partner(w, w->step);
    const struct block in = windows_in(w, w->peer);
    if (!windows_may_announce(w, wait))
        return false;
    if (in.bytes == 0)
        windows_announce(w, &w->mine->to[w->peer].full[w->op % 2], 0);
    else if (!windows_write_tile(w, &in, wait))
        return false;
    if (w->done_bytes >= in.bytes) {
        w->step++;
        w->tile = w->done_bytes = 0;
    }
    return true;
}

/* Prefetches the bytes of the window which the next operation writes first, if it is like this
 * operation. */
static void windows_prefetch(struct windows *w, uint64_t began)
{
    size_t bytes = w->at - began < WINDOWS_PREFETCH_MAX ? w->at - began : WINDOWS_PREFETCH_MAX,
           place = w->at % w->window_bytes;

    if (bytes > place && place != 0) /* the tiles began again at the beginning of the window */
        bytes = place;
    if (bytes != 0 && bytes <= w->window_bytes && windows_make_room(w, bytes, false))
        mem_prefetch_own(
            w->m,
            windows_data(w, w->me, NULL, tiles_header(w->at % w->window_bytes, 0, false, false)),
            bytes);
}

#endif
