/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * windows.h - the family `windows`: a rank's slot, and the announcements of two ranks to each
 * other: tiles that are written, and tiles that are acknowledged.  The exchange itself: windows.c.
 * The reader of a tile returns the lines of the tile (mem_out_as).
 *
 * Line                           written by  read by  value means
 *   slot[r].to[d].full[2]        r           d        operation; tiles that r has written for d in
 *                                                     it; whether it had any in the last one.
 *                                                     With it, headers of the last tiles: place,
 *                                                     bytes, whether more follow.  The two lines
 *                                                     are used in turn; the first of an operation
 *                                                     is full[operation % 2]
 *   slot[d].to[r].acknowledged   d           r        operation; tiles of r's that d has consumed
 *                                                     in it
 *   slot[r].at, .out             r           r        (plain) r's position in its window; the tiles
 *                                                     not known to be acknowledged
 *   slot[r] known, order         r           r        (plain) what r knows of each rank; r's
 *                                                     partners, in turn: written in the first
 *                                                     operation
 *
 * Edges     R1 -> A1   a copy into a tile          happens before  its partner's copy out of it
 *                      a rank's copies out before  happen before   its partner's copies into those
 *                                                                  bytes after
 *           R2 -> A2   a copy out of a tile        happens before  the next copy into those bytes,
 *                      and into the word of its header
 *
 * Safety
 *   1. Two tiles never share a header's place.  Tile t of operation k has place 7 (k % 2) + t mod
 *      14, of the 14 places in both lines of a pair.  Before a rank announces a tile of operation
 *      k, its reader has acknowledged operation k - 2, and also k - 1 before two tiles would share
 *      a place.
 *   2. A reader finds out whether operation k had tiles, even if its line has been updated since.
 *      The line may have the number of tiles; or it announces operation k + 1, with a bit for
 *      operation k; or it announces a later operation, and then k had none (by 1).
 *   3. A small tile is not overwritten.  A tile of at most 64 bytes travels in the line of its
 *      flag.  That line is written again only after its reader has acknowledged all tiles of that
 *      operation, or has written a tile of a later operation: a rank that writes for operation k
 *      has consumed all tiles of k - 1.  If both ranks send, most tiles are acknowledged in this
 *      way.
 */
#ifndef HUD_ALG_WINDOWS_H
#define HUD_ALG_WINDOWS_H

#include "alg/block.h"
#include "alg/partners.h"
#include "shape/tiles.h"

_Static_assert((int)TILES_LINE == (int)HUD_LINE, "tiles begin lines");

enum windows_param { WINDOWS_TILE, WINDOWS_BUDGET };

static const struct alg_param windows_params[] = {
    [WINDOWS_TILE] = { "tile", "B",
                       "bytes of a tile, the unit of the exchange; 0: a quarter of the window", 0,
                       1 << 24, 0, NULL, .per_call = true, .tune = "8K,32K" },
    [WINDOWS_BUDGET] = { "budget", "B",
                         "bytes of a rank's window, used up to the rank's share of the L3 cache; "
                         "0: as much as the lease allows",
                         0, 1 << 28, 128 << 10, NULL, .tune = "512K" },
    { .name = NULL },
};

/* What a rank records of an unacknowledged tile: its receiver, its number for the receiver, its
 * operation, and where it begins. */
enum { WINDOWS_PEER, WINDOWS_COUNT, WINDOWS_OP, WINDOWS_AT, WINDOWS_WORDS };

/*
 * What a rank knows of a peer.  WINDOWS_CONSUMED: the last operation whose tiles for the peer, and
 * those of all earlier operations, are known to be consumed.  WINDOWS_SMALL_OP: the operations of
 * the last small tiles, for each line.  WINDOWS_LAST_OP: the last even and the last odd operation
 * that had tiles for the peer.  WINDOWS_LAST: their numbers of tiles, or 0 once all are known to be
 * acknowledged.
 */
enum {
    WINDOWS_CONSUMED,
    WINDOWS_SMALL_OP,
    WINDOWS_LAST_OP = WINDOWS_SMALL_OP + 2,
    WINDOWS_LAST = WINDOWS_LAST_OP + 2,
    WINDOWS_KNOWN = 8
};

struct windows_slot {
    _Alignas(HUD_LINE)
        uint64_t at; /* bytes since the window began; a tile begins at a line and does not wrap
                        around the end */
    uint64_t op;     /* number of operations in this slot so far; each posts every pair's flags,
                        so no flag falls 2^31 behind */
    uint64_t first, next; /* tiles [first, next) are not known to be acknowledged */
    uint64_t met;         /* number of ranks in the order of meetings: none yet, or all others */
    uint64_t out[TILES_AHEAD][WINDOWS_WORDS];
    struct windows_lines {
        mem_flag full[2], acknowledged;
    } to[]; /* [ranks]; followed by what is known of each rank; then by the order, a word for
               each rank, with a step and the partner in it */
};

static inline size_t windows_lines_bytes(const long *param, int ranks, size_t window_bytes)
{
    (void)param, (void)window_bytes;
    return sizeof(struct windows_slot) + (size_t)ranks * sizeof(struct windows_lines) +
           mem_lines((size_t)ranks * (WINDOWS_KNOWN + 1) * sizeof(uint64_t));
}

static inline size_t windows_window_bytes(const long *param, int ranks, size_t max_bytes)
{
    (void)ranks;
    return tiles_window_of((size_t)param[WINDOWS_BUDGET], max_bytes);
}

/* How a view of the call is cut: equal blocks, one for each rank; a single block, the same for all
 * receivers, or in place its own part of the other view; or an array of views, one for each
 * rank. */
enum windows_cut { WINDOWS_EQUAL, WINDOWS_ONE, WINDOWS_PARTS };

/* How the views of a collective are cut. */
struct windows_way {
    enum windows_cut in, out;
};

/* An exchange on one rank: its position in its window, and the next tile that it writes, with the
 * step, the partner of the step, the tile's number, and the bytes of the block before it. */
struct windows {
    struct mem *m;
    const struct coll *c;
    struct windows_slot *mine;
    int me, ranks;
    struct windows_way way;
    bool equal; /* all blocks have the call's bytes, or none */
    size_t window_bytes, tile_bytes;
    size_t reach_bytes; /* bytes of the window that tiles of the current block may use */
    uint64_t op, at, first, next;
    int step, peer;
    uint64_t tile;
    size_t done_bytes;
};

/* ---- blocks of the call ---- */

static inline struct block windows_block(const struct windows *w, const struct hud_view *views,
                                         enum windows_cut cut, int rank)
{
    size_t bytes = w->c->bytes;

    if (cut == WINDOWS_ONE && !(w->equal && coll_in_place(w->c)))
        return (struct block){ { .view = views }, views->bytes };
    if (cut == WINDOWS_PARTS)
        return (struct block){ { .view = &views[rank] }, views[rank].bytes };
    return (struct block){ { .view = views,
                             .offset_bytes = (size_t)(cut == WINDOWS_ONE ? w->me : rank) * bytes },
                           bytes };
}

static inline struct block windows_in(const struct windows *w, int rank)
{
    return windows_block(w, w->c->in, w->way.in, rank);
}

static inline struct block windows_out(const struct windows *w, int rank)
{
    return windows_block(w, w->c->out, w->way.out, rank);
}

/* ---- partners ---- */

static inline uint64_t *windows_order(const struct windows *w)
{
    return (uint64_t *)&w->mine->to[w->ranks] + (size_t)w->ranks * WINDOWS_KNOWN;
}

/* Returns a word that this rank knows of a peer. */
static inline uint64_t *windows_known(const struct windows *w, int peer, int word)
{
    return (uint64_t *)&w->mine->to[w->ranks] + (size_t)peer * WINDOWS_KNOWN + word;
}

/* Returns the partner of this rank in the step-th of its own steps, counted from 0. */
static inline int windows_partner(const struct windows *w, int step)
{
    return partners_in(w->m, windows_order(w), step);
}

enum { WINDOWS_SMALL = 8 * 8 }; /* maximum bytes of a tile that travels in the line */
_Static_assert(8 * TILES_HEADERS + WINDOWS_SMALL == MEM_PAYLOAD,
               "headers and a small tile fill the line of their flag");

/* Returns the address of a rank's tile, which `full` announces. */
static inline char *windows_data(const struct windows *w, int rank, mem_flag *full, uint64_t header)
{
    return header & TILES_SMALL ? (char *)&full->payload[TILES_HEADERS]
                                : (char *)mem_window(w->m, rank) + tiles_header_begin(header);
}

/* Reports whether the next tile for the partner may travel in its line: the tile is small, and the
 * last small tile there has been consumed. */
static inline bool windows_is_small(const struct windows *w, int line, size_t bytes)
{
    return bytes <= WINDOWS_SMALL &&
           mem_get(w->m, windows_known(w, w->peer, WINDOWS_CONSUMED)) >=
               mem_get(w->m, windows_known(w, w->peer, WINDOWS_SMALL_OP + line));
}

/* Returns the acknowledgement of a peer.  If `wait` is true, first waits until the acknowledgement
 * is at least `count`. */
static inline uint64_t windows_acknowledged(const struct windows *w, int rank, uint64_t count,
                                            bool wait)
{
    struct windows_slot *peer = mem_slot(w->m, rank);
    mem_flag *acknowledged = &peer->to[w->me].acknowledged;

    if (wait)
        return mem_await(w->m, acknowledged, count); /* A2 */
    return mem_peek(w->m, acknowledged);             /* A2 */
}

/* Reports whether a peer has acknowledged `tiles` tiles of an operation.  Returns false only if
 * `wait` is false. */
static inline bool windows_is_acknowledged(const struct windows *w, int rank, uint64_t op,
                                           uint64_t tiles, bool wait)
{
    uint64_t count = tiles_acknowledged(op, tiles);

    return mem_get(w->m, windows_known(w, rank, WINDOWS_CONSUMED)) >= op ||
           (int64_t)(windows_acknowledged(w, rank, count, wait) - count) >= 0;
}

/* Records which of the last even and the last odd operation before this operation a peer's line has
 * acknowledged as a whole, so the line need not be read again for them.  Reading takes the line
 * from its writer. */
static inline void windows_note(const struct windows *w, int peer, uint64_t acknowledged)
{
    uint64_t *consumed = windows_known(w, peer, WINDOWS_CONSUMED);

    for (int parity = 0; parity < 2; parity++) {
        uint64_t *last = windows_known(w, peer, WINDOWS_LAST + parity), tiles = mem_get(w->m, last),
                 op = mem_get(w->m, windows_known(w, peer, WINDOWS_LAST_OP + parity));
        if (tiles == 0 || op == w->op ||
            (int64_t)(acknowledged - tiles_acknowledged(op, tiles)) < 0)
            continue;
        mem_put(w->m, last, 0);
        if (mem_get(w->m, consumed) < op)
            mem_put(w->m, consumed, op);
    }
}

/* Reports whether the partner has acknowledged all tiles of the last even, or odd, operation. */
static inline bool windows_all_acknowledged(const struct windows *w, uint64_t parity, bool wait)
{
    uint64_t *last = windows_known(w, w->peer, WINDOWS_LAST + (int)parity),
             tiles = mem_get(w->m, last);

    if (tiles == 0)
        return true;
    uint64_t op = mem_get(w->m, windows_known(w, w->peer, WINDOWS_LAST_OP + (int)parity));
    if (mem_get(w->m, windows_known(w, w->peer, WINDOWS_CONSUMED)) >= op) {
        mem_put(w->m, last, 0);
        return true;
    }
    windows_note(w, w->peer, windows_acknowledged(w, w->peer, tiles_acknowledged(op, tiles), wait));
    return mem_get(w->m, last) == 0;
}

/* Reports whether the place of the next header for the partner is free, and the partner no longer
 * needs the data that its line has announced. */
static inline bool windows_may_announce(const struct windows *w, bool wait)
{
    uint64_t now = w->op % 2, before = 1 - now;

    if (w->tile == 0 && !windows_all_acknowledged(w, now, wait))
        return false;
    if (w->tile == 0 &&
        mem_get(w->m, windows_known(w, w->peer, WINDOWS_LAST + (int)before)) <= TILES_HEADERS)
        return true;
    return (w->tile != 0 && w->tile != TILES_HEADERS) || windows_all_acknowledged(w, before, wait);
}

/* Announces this operation's tiles for the partner, `tiles` up to now. */
static inline void windows_announce(const struct windows *w, mem_flag *full, uint64_t tiles)
{
    uint64_t op = w->op,
             before = mem_get(w->m, windows_known(w, w->peer, WINDOWS_LAST_OP + (int)(1 - op % 2)));

    mem_post(w->m, full, tiles_full(op, tiles, before == op - 1)); /* R1 */
}

/* Waits for a tile of a peer.  Returns false if the peer has no tiles in this operation. */
static inline bool windows_await_tile(const struct windows *w, mem_flag *full, uint64_t tile)
{
    uint64_t full_word =
        mem_await(w->m, full, tiles_full(w->op, tile == 0 ? 0 : tile + 1, false)); /* A1 */

    return tile != 0 || tiles_had(full_word, w->op);
}

/* Acknowledges `tiles` tiles of a peer in this operation. */
static inline void windows_acknowledge(const struct windows *w, int peer, uint64_t tiles)
{
    mem_post(w->m, &w->mine->to[peer].acknowledged, tiles_acknowledged(w->op, tiles)); /* R2 */
}

#endif
