/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tiles.h - tiles of exchanges by windows (alg/windows/, alg/one_way/): their sizes, and the words
 * by which two ranks announce them to each other.  Pure functions.
 *
 * Tiles are counted within an operation.  A count is announced with the operation's number, so an
 * announcement of an earlier operation is smaller.
 *
 * Concurrency (paper 02's limit of readers).  A source has one reader in a step.  Of n ranks on
 * each of G NUMA nodes at most n - n / G + 2 read from other nodes, and n / G + 1 from any one:
 * meetings within nodes and between them are mixed.  A lower limit would need ranks that wait: the
 * order of the pairs in a step does not change the order in which a rank meets the others.
 *
 * Tile size (paper 02: what fits the shared cache, and so depends on the ranks on it).  The window
 * is no larger than a rank's share of the largest shared cache, so all its tiles that are out fit
 * there; a tile is a quarter of that.
 */
#ifndef HUD_TILES_H
#define HUD_TILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    TILES_LINE = 128,  /* bytes: where tiles begin */
    TILES_HEADERS = 7, /* of the last tiles, in each of the two lines of a pair */
    TILES_AHEAD =
        2 * TILES_HEADERS /* tiles of a rank, at most, that are not known to be acknowledged */
};

/* ---- sizes ---- */

enum {
    TILES_WINDOW = 4,
    TILES_MIN = 16 << 10
}; /* tiles that a window holds by default; bytes of a window that is cut down to a
      share of a cache */
enum {
    TILES_SHORT = 4 << 10,
    TILES_WALK = 16 << 10
}; /* bytes of a short block, at most; of a window, where short blocks go */

/* Bytes of a window, whole lines: as wanted, 0: as many as there are; no more than those. */
static inline size_t tiles_window_of(size_t wanted, size_t max_bytes)
{
    size_t room = max_bytes / TILES_LINE * TILES_LINE,
           lines = (wanted + TILES_LINE - 1) / TILES_LINE * TILES_LINE;

    return lines != 0 && lines < room ? lines : room;
}

/* Bytes of a window that are used: no more than the rank has of the shared cache, 0: not known, so
 * that tiles are still there when they are read. */
static inline size_t tiles_window(size_t window_bytes, size_t cache_bytes)
{
    size_t cache = cache_bytes / TILES_LINE * TILES_LINE;

    if (cache == 0 || cache >= window_bytes)
        return window_bytes;
    return cache > TILES_MIN ? cache : window_bytes < TILES_MIN ? window_bytes : TILES_MIN;
}

/* Bytes of a tile, in whole lines: as wanted, or, 0, a part of the window; no more than the
 * window. */
static inline size_t tiles_bytes(size_t wanted, size_t window_bytes)
{
    size_t tile = wanted != 0 ? wanted : (window_bytes - TILES_LINE) / TILES_WINDOW + 1;

    tile = (tile + TILES_LINE - 1) / TILES_LINE * TILES_LINE;
    return tile < window_bytes ? tile : window_bytes;
}

/* Returns where, from this position of a window on, `bytes` lie in one run that ends in the first
 * `reach` bytes of the window. */
static inline uint64_t tiles_run(uint64_t at, size_t bytes, size_t window_bytes, size_t reach)
{
    size_t place = at % window_bytes;

    return place + bytes > reach ? at + (window_bytes - place) : at;
}

/* Of a window, the bytes where a block's first tile goes.  A page that is written or read for the
 * first time costs as much as some calls do: short blocks stay within a few pages. */
static inline size_t tiles_reach(size_t block_bytes, size_t window_bytes)
{
    return block_bytes <= TILES_SHORT && window_bytes > TILES_WALK ? TILES_WALK : window_bytes;
}

/* ---- counts ---- */

static const uint64_t tiles_all = UINT32_MAX; /* tiles, however many there are */

/* Announced by a rank that has consumed so many. */
static inline uint64_t tiles_acknowledged(uint64_t op, uint64_t tiles)
{
    return op << 32 | tiles;
}

/* Announced by a rank that has written so many; and whether it had any in the operation before. */
static inline uint64_t tiles_full(uint64_t op, uint64_t tiles, bool before)
{
    return op << 32 | tiles << 1 | before;
}

/* The operation had tiles, by a line that announces it or a later one. */
static inline bool tiles_had(uint64_t full, uint64_t op)
{
    uint32_t ahead = (uint32_t)(full >> 32) - (uint32_t)op;

    return ahead == 0 ? (uint32_t)full >> 1 != 0 : ahead == 1 && (full & 1) != 0;
}

/* ---- headers ---- */

/* The place of a tile's header: in both lines in turn. */
static inline int tiles_place(uint64_t op, uint64_t tile)
{
    return (int)((op % 2 * TILES_HEADERS + tile) % TILES_AHEAD);
}

/* A tile's header: where the tile begins in the window, in lines, its bytes, whether it is small,
 * and whether more follow. */
enum { TILES_MORE = 1, TILES_SMALL = 2 };

static inline uint64_t tiles_header(size_t begin, size_t bytes, bool small, bool more)
{
    return (uint64_t)(begin / TILES_LINE) << 32 | (uint64_t)bytes << 2 | (small ? TILES_SMALL : 0) |
           (more ? TILES_MORE : 0);
}

static inline size_t tiles_header_begin(uint64_t header)
{
    return (header >> 32) * TILES_LINE;
}

static inline size_t tiles_header_bytes(uint64_t header)
{
    return (uint32_t)header >> 2;
}

#endif
