/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * windows_pair.h - what two ranks of an exchange by windows tell each other: tiles that are
 * written, and tiles that are left.
 *
 * Notices.  Tile t of operation k has place 7 (k % 2) + t mod 14 of the 14 that both lines of a
 * pair have.  Before a rank tells anything of operation k, its reader has left operation k - 2, and
 * k - 1 before the two would share a place.  So a line that was told of k tells its reader whether
 * k had tiles, until these are left: it says so itself, or is told of tiles of k + 1, with that
 * bit, or of a later operation, and k had none.
 *
 * Small tiles.  One of at most 64 bytes travels in the line of its flag. There are two in turn, and
 * the line is written again only once its reader was heard in a later operation than that of the
 * small tile before: whoever writes for operation k has left all tiles of k - 1. Where both ends
 * send, that is how most tiles are known to be left.
 *
 * Line                      written by   read by     value means
 *   slot[r].to[d].full[2]   r            d           operation, tiles r has written for d in it,
 *                                                    whether it had any in the one before; notices
 *                                                    of the last tiles: place, bytes, whether more
 *                                                    follow.  By turns; the first line of an
 *                                                    operation is full[operation % 2]
 *   slot[d].to[r].left      d            r           operation, tiles of r's for it that d has left
 *                                                    in it
 *
 * Edges     R1 -> A1   a copy into a tile          happens before  its partner's copy out of it
 *                      a rank's copies out before  happen before   its partner's copies into those
 *                                                                  bytes after
 *           R2 -> A2   a copy out of a tile        happens before  the next copy into those bytes,
 *                      and into the word of its notice
 */
#ifndef HUD_ALG_WINDOWS_PAIR_H
#define HUD_ALG_WINDOWS_PAIR_H

#include "alg/windows_slot.h"

enum { WINDOWS_SMALL = 8 * 8 }; /* bytes that travel in the line */
_Static_assert(8 * TILES_NOTICES + WINDOWS_SMALL == MEM_PAYLOAD,
               "notices and a small tile fill the line of their flag");

/* Where a tile lies, in a slot and with the line that tells of it. */
static inline char *windows_data(const struct windows *w, struct windows_slot *slot, mem_flag *full,
                                 uint64_t notice)
{
    return notice & TILES_SMALL ? (char *)&full->payload[TILES_NOTICES]
                                : windows_bytes(w, slot) + tiles_notice_begin(notice);
}

/* The next tile for the partner may travel in its line: it is small, and the last one there was
 * left. */
static inline bool windows_is_small(const struct windows *w, int line, size_t bytes)
{
    return bytes <= WINDOWS_SMALL &&
           mem_get(w->m, windows_known(w, w->peer, WINDOWS_HEARD)) >
               mem_get(w->m, windows_known(w, w->peer, WINDOWS_SMALL_OP + line));
}

/* A peer has left so many tiles of an operation; false: not yet, and nobody waited. */
static inline bool windows_has_left(const struct windows *w, int rank, uint64_t op, uint64_t tiles,
                                    bool wait)
{
    struct windows_slot *peer = mem_slot(w->m, rank);
    mem_flag *left = &peer->to[w->me].left;
    uint64_t count = tiles_left(op, tiles);

    if (mem_get(w->m, windows_known(w, rank, WINDOWS_HEARD)) > op)
        return true; /* it has left all of that operation */
    if (wait)
        mem_await(w->m, left, count);                            /* A2 */
    return wait || (int64_t)(mem_peek(w->m, left) - count) >= 0; /* A2 */
}

/* The partner has left all of the last even, or odd, operation. */
static inline bool windows_ended(const struct windows *w, uint64_t parity, bool wait)
{
    uint64_t *last = windows_known(w, w->peer, WINDOWS_LAST + (int)parity),
             tiles = mem_get(w->m, last);

    if (tiles != 0 &&
        !windows_has_left(w, w->peer,
                          mem_get(w->m, windows_known(w, w->peer, WINDOWS_LAST_OP + (int)parity)),
                          tiles, wait))
        return false;
    if (tiles != 0)
        mem_put(w->m, last, 0);
    return true;
}

/* The place of the next notice for the partner is free, and the partner does not ask for what its
 * line has said. */
static inline bool windows_may_tell(const struct windows *w, bool wait)
{
    uint64_t now = w->op % 2, before = 1 - now;

    if (w->tile == 0 && !windows_ended(w, now, wait))
        return false;
    if (w->tile == 0 &&
        mem_get(w->m, windows_known(w, w->peer, WINDOWS_LAST + (int)before)) <= TILES_NOTICES)
        return true;
    return (w->tile != 0 && w->tile != TILES_NOTICES) || windows_ended(w, before, wait);
}

/* Tells the partner of this operation's tiles, so many up to now. */
static inline void windows_tell(const struct windows *w, mem_flag *full, uint64_t tiles)
{
    uint64_t op = w->op,
             before = mem_get(w->m, windows_known(w, w->peer, WINDOWS_LAST_OP + (int)(1 - op % 2)));

    mem_post(w->m, full, tiles_full(op, tiles, before == op - 1)); /* R1 */
}

/* Waits for a tile of a peer's; false: it has none in this operation. */
static inline bool windows_hear(const struct windows *w, mem_flag *full, uint64_t tile)
{
    uint64_t told =
        mem_await(w->m, full, tiles_full(w->op, tile == 0 ? 0 : tile + 1, false)); /* A1 */

    return tile != 0 || tiles_had(told, w->op);
}

/* This rank has left so many tiles of a peer's in this operation. */
static inline void windows_leave(const struct windows *w, int peer, uint64_t tiles)
{
    mem_post(w->m, &w->mine->to[peer].left, tiles_left(w->op, tiles)); /* R2 */
}

#endif
