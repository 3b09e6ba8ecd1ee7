/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * windows_ring.h - the memory of an exchange by windows: the slot, the room in a rank's window, and what each pair of ranks tells each other of it.
 *
 * Notices.  Tile t of operation k has place 7 (k % 2) + t mod 14 of the 14 that both lines of a pair have.  Before a rank tells anything of operation k, its reader has
 * left operation k - 2, and k - 1 before the two would share a place.  So a line that was told of k tells its reader whether k had tiles, until these are left: it
 * says so itself, or is told of tiles of k + 1, with that bit, or of a later operation, and k had none.
 *
 * Small tiles.  One of at most 64 bytes travels in the line of its flag. There are two in turn, and the line is written again only once its reader was heard in a later
 * operation than that of the small tile before: whoever writes for operation k has left all tiles of k - 1. Where both ends send, that is how most tiles are known to be left.
 *
 * Line                      written by   read by     value means
 *   slot[r].to[d].full[2]   r            d           operation, tiles r has written for d in it, whether it had any in the one before; notices of the last tiles:
 *                                                    place, bytes, whether more follow.  By turns; the first line of an operation is full[operation % 2]
 *   slot[d].to[r].left      d            r           operation, tiles of r's for it that d has left in it
 *   slot[r].at, .out        r            r           (plain) r's position in its window, and the tiles not known to be left
 *   slot[r] known, order    r            r           (plain) what r remembers of each rank; whom r meets, in turn: written in the first operation
 *
 * Edges     R1 -> A1   a copy into a tile          happens before  its partner's copy out of it
 *                      a rank's copies out before  happen before   its partner's copies into those bytes after
 *           R2 -> A2   a copy out of a tile        happens before  the next copy into those bytes, and into the word of its notice
 */
#ifndef HUD_ALG_WINDOWS_RING_H
#define HUD_ALG_WINDOWS_RING_H

#include "alg/alg.h"

enum windows_param { WINDOWS_TILE, WINDOWS_BUDGET };

enum {
    WINDOWS_NOTICES = 7,                 /* of the last tiles, in each of the two lines of a pair */
    WINDOWS_AHEAD = 2 * WINDOWS_NOTICES, /* most tiles of a rank that are out: not known to be left */
    WINDOWS_SMALL = 8 * 8,               /* bytes that travel in the line */
    WINDOWS_TILES = 4,                   /* that a window holds, unless told otherwise */
    WINDOWS_LEAST = 16 << 10,            /* bytes of a window that is cut down to a share of a cache */
    WINDOWS_CLAIMED = 8192               /* bytes that are taken back for the next operation, at most */
};
_Static_assert(8 * WINDOWS_NOTICES + WINDOWS_SMALL == MEM_PAYLOAD, "notices and a small tile fill the line of their flag");

/* What a rank remembers of a tile that is out: for whom, the how many-th for him, of which operation, where it begins. */
enum { WINDOWS_PEER, WINDOWS_COUNT, WINDOWS_OP, WINDOWS_AT, WINDOWS_WORDS };

/*
 * What a rank remembers of a peer: the last operation in which it was heard; those of the last small tiles, by line; the last operations, an even and an odd one, that had
 * tiles for it, and how many: 0 once all are known to be left.
 */
enum { WINDOWS_HEARD, WINDOWS_SMALL_OP, WINDOWS_LAST_OP = WINDOWS_SMALL_OP + 2, WINDOWS_LAST = WINDOWS_LAST_OP + 2, WINDOWS_KNOWN = 8 };

struct windows_slot {
    _Alignas(HUD_LINE) uint64_t at; /* bytes since the window began; a tile begins a line and goes over no end */
    uint64_t op;          /* operations so far, from the first in this slot on: each posts every pair's flags, so none falls 2^31 behind */
    uint64_t first, next; /* tiles [first, next) are out */
    uint64_t met;         /* ranks in the order of meetings: none, or all others */
    uint64_t out[WINDOWS_AHEAD][WINDOWS_WORDS];
    struct windows_lines {
        mem_flag full[2], left;
    } to[]; /* [ranks]; then what is known of each rank; then the order, a word for each rank: step, and whom this rank meets in it; then the window */
};

/* A notice: the tile's place in the window, in lines, its bytes, whether it is small, and whether more follow. */
enum { WINDOWS_MORE = 1, WINDOWS_INLINE = 2 };

static inline uint64_t windows_notice(size_t place, size_t bytes, bool small, bool more)
{
    return (uint64_t)(place / HUD_LINE) << 32 | (uint64_t)bytes << 2 | (small ? WINDOWS_INLINE : 0) | (more ? WINDOWS_MORE : 0);
}

static inline size_t windows_bytes(uint64_t notice)
{
    return (uint32_t)notice >> 2;
}

/* What `left` says of so many tiles; and `full`, whether the operation before had any. */
static inline uint64_t windows_count(uint64_t op, uint64_t tiles)
{
    return op << 32 | tiles;
}

static inline uint64_t windows_full(uint64_t op, uint64_t tiles, bool before)
{
    return op << 32 | tiles << 1 | before;
}

static const uint64_t windows_all = UINT32_MAX; /* tiles, however many there are */

/* The place of a tile among the notices. */
static inline int windows_place(uint64_t op, uint64_t tile)
{
    return (int)((op % 2 * WINDOWS_NOTICES + tile) % WINDOWS_AHEAD);
}

static inline size_t windows_head_bytes(int ranks)
{
    return sizeof(struct windows_slot) + (size_t)ranks * sizeof(struct windows_lines) +
           mem_lines((size_t)ranks * (WINDOWS_KNOWN + 1) * sizeof(uint64_t));
}

static inline size_t windows_slot_bytes(const long *param, int ranks, size_t most_bytes)
{
    size_t head = windows_head_bytes(ranks), room = most_bytes > head ? (most_bytes - head) / HUD_LINE * HUD_LINE : 0;
    size_t wanted = mem_lines((size_t)param[WINDOWS_BUDGET]);

    room = wanted != 0 && wanted < room ? wanted : room;
    return room == 0 ? 0 : head + room;
}

/* Bytes of a window that are used: no more than the rank has of the shared cache, so that tiles are still there when they are taken. */
static inline size_t windows_window(const struct coll *c, int ranks)
{
    size_t window = c->slot_bytes - windows_head_bytes(ranks), cache = c->cache_bytes / HUD_LINE * HUD_LINE;

    if (cache == 0 || cache >= window)
        return window;
    return cache > WINDOWS_LEAST ? cache : window < WINDOWS_LEAST ? window : WINDOWS_LEAST;
}

static inline size_t windows_tile(const long *param, size_t window_bytes)
{
    size_t tile = mem_lines(param[WINDOWS_TILE] != 0 ? (size_t)param[WINDOWS_TILE] : (window_bytes - HUD_LINE) / WINDOWS_TILES + 1);

    return tile < window_bytes ? tile : window_bytes;
}

/* One rank's exchange: where it is in its window, and where the next tile comes from: its partner, the how many-th, and its number. */
struct windows {
    struct mem *m;
    const struct coll *c;
    struct windows_slot *mine;
    int me, ranks;
    size_t window_bytes, tile_bytes;
    uint64_t op, at, first, next;
    int turn, peer;
    uint64_t tile;
};

/* Where a tile lies, in a slot and with the line that tells of it. */
static inline char *windows_data(const struct windows *w, struct windows_slot *slot, mem_flag *full, uint64_t notice)
{
    return notice & WINDOWS_INLINE ? (char *)&full->payload[WINDOWS_NOTICES]
                                   : (char *)slot + windows_head_bytes(w->ranks) + (notice >> 32) * HUD_LINE;
}

static inline uint64_t *windows_order(const struct windows *w)
{
    return (uint64_t *)&w->mine->to[w->ranks] + (size_t)w->ranks * WINDOWS_KNOWN;
}

/* What this rank remembers of a peer. */
static inline uint64_t *windows_known(const struct windows *w, int peer, int word)
{
    return (uint64_t *)&w->mine->to[w->ranks] + (size_t)peer * WINDOWS_KNOWN + word;
}

/* A peer has left so many tiles of an operation; false: not yet, and nobody waited. */
static inline bool windows_has_left(const struct windows *w, int rank, uint64_t op, uint64_t tiles, bool wait)
{
    struct windows_slot *peer = mem_slot(w->m, rank);
    mem_flag *left = &peer->to[w->me].left;
    uint64_t count = windows_count(op, tiles);

    if (mem_get(w->m, windows_known(w, rank, WINDOWS_HEARD)) > op)
        return true; /* it has left all of that operation */
    if (wait)
        mem_await(w->m, left, count);                            /* A2 */
    return wait || (int64_t)(mem_peek(w->m, left) - count) >= 0; /* A2 */
}

/* The oldest tile that is out has been left; false: not yet, and nobody waited. */
static inline bool windows_reclaim(struct windows *w, bool wait)
{
    const uint64_t *oldest = w->mine->out[w->first % WINDOWS_AHEAD];

    if (!windows_has_left(w, (int)mem_get(w->m, &oldest[WINDOWS_PEER]), mem_get(w->m, &oldest[WINDOWS_OP]),
                          mem_get(w->m, &oldest[WINDOWS_COUNT]), wait))
        return false;
    w->first++;
    return true;
}

/* The partner has left all of the last even, or odd, operation. */
static inline bool windows_ended(const struct windows *w, uint64_t parity, bool wait)
{
    uint64_t *last = windows_known(w, w->peer, WINDOWS_LAST + (int)parity), tiles = mem_get(w->m, last);

    if (tiles != 0 && !windows_has_left(w, w->peer, mem_get(w->m, windows_known(w, w->peer, WINDOWS_LAST_OP + (int)parity)), tiles, wait))
        return false;
    if (tiles != 0)
        mem_put(w->m, last, 0);
    return true;
}

/* The place of the next notice for the partner is free, and the partner does not ask for what its line has said. */
static inline bool windows_may_tell(const struct windows *w, bool wait)
{
    uint64_t now = w->op % 2, before = 1 - now;

    if (w->tile == 0 && !windows_ended(w, now, wait))
        return false;
    if (w->tile == 0 && mem_get(w->m, windows_known(w, w->peer, WINDOWS_LAST + (int)before)) <= WINDOWS_NOTICES)
        return true;
    return (w->tile != 0 && w->tile != WINDOWS_NOTICES) || windows_ended(w, before, wait);
}

/* So many bytes, in one run, are free at the window's position; false: not yet, and nobody waited. */
static inline bool windows_make_room(struct windows *w, size_t bytes, bool wait)
{
    size_t place = w->at % w->window_bytes;

    if (place + bytes > w->window_bytes)
        w->at += w->window_bytes - place;
    while (w->first != w->next) {
        uint64_t from = mem_get(w->m, &w->mine->out[w->first % WINDOWS_AHEAD][WINDOWS_AT]);
        if (w->next - w->first < WINDOWS_AHEAD && w->at + bytes - from <= w->window_bytes)
            return true;
        if (!windows_reclaim(w, wait))
            return false;
    }
    return true;
}

/* Tells the partner of this operation's tiles, so many up to now. */
static inline void windows_tell(const struct windows *w, mem_flag *full, uint64_t tiles)
{
    uint64_t op = w->op, before = mem_get(w->m, windows_known(w, w->peer, WINDOWS_LAST_OP + (int)(1 - op % 2)));

    mem_post(w->m, full, windows_full(op, tiles, before == op - 1)); /* R1 */
}

/* The partner's operation, which a line was told of, had tiles. */
static inline bool windows_had_tiles(uint64_t full, uint64_t op)
{
    uint32_t ahead = (uint32_t)(full >> 32) - (uint32_t)op;

    return ahead == 0 ? (uint32_t)full >> 1 != 0 : ahead == 1 && (full & 1) != 0;
}

/* Waits for a tile of a peer's; false: it has none in this operation. */
static inline bool windows_hear(const struct windows *w, mem_flag *full, uint64_t tile)
{
    uint64_t told = mem_await(w->m, full, windows_full(w->op, tile == 0 ? 0 : tile + 1, false)); /* A1 */

    return tile != 0 || windows_had_tiles(told, w->op);
}

/* This rank has left so many tiles of a peer's in this operation. */
static inline void windows_leave(const struct windows *w, int peer, uint64_t tiles)
{
    mem_post(w->m, &w->mine->to[peer].left, windows_count(w->op, tiles)); /* R2 */
}

#endif
