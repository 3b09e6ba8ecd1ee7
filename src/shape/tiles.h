/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tiles.h - tiles of exchanges by windows (alg/windows/, alg/gather_scatter/): their sizes, and the
 * words with which two ranks announce tiles to each other.  Pure functions.
 *
 * Tiles are counted within an operation.  A count is announced with the operation's number, so an
 * announcement of an earlier operation is smaller.
 *
 * Concurrency (paper 02's limit of readers).  A source has one reader in a step.  Of n ranks on
 * each of G NUMA nodes, at most n - n / G + 2 read from other nodes, and n / G + 1 from any one of
 * them, because meetings within nodes and between nodes are mixed.  A lower limit would need ranks
 * that wait: the order of the pairs in a step does not change the order in which a rank meets the
 * others.
 *
 * Tile size (paper 02: the size that fits the shared cache, and so depends on the number of ranks
 * that share it).  The window is no larger than a rank's share of the largest shared cache, so all
 * its unread tiles fit there.  A tile is a quarter of the window.
 */
#ifndef HUD_TILES_H
#define HUD_TILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    TILES_LINE = 128,  /* bytes: alignment of tiles */
    TILES_HEADERS = 7, /* headers of the last tiles in each of the two lines of a pair */
    TILES_AHEAD = 2 * TILES_HEADERS /* maximum number of a rank's tiles that are not known to be
                                       acknowledged */
};

/* ---- sizes ---- */

enum {
    TILES_WINDOW = 4,
    TILES_MIN = 16 << 10
}; /* default number of tiles of a window; minimum bytes of a window that is reduced to a share
      of a cache */
enum {
    TILES_SHORT = 4 << 10,
    TILES_WALK = 16 << 10
}; /* maximum bytes of a short block; bytes of a window that short blocks use */

/* Returns the bytes of a window, in whole lines: as wanted, or if `wanted` is 0 or too large, as
 * many as fit into max_bytes. */
static inline size_t tiles_window_of(size_t wanted, size_t max_bytes)
{
    size_t room = max_bytes / TILES_LINE * TILES_LINE,
           lines = (wanted + TILES_LINE - 1) / TILES_LINE * TILES_LINE;

    return lines != 0 && lines < room ? lines : room;
}

/* Returns how many bytes of a window are used: at most the rank's share of the shared cache, so
 * that tiles are still in the cache when they are read.  cache_bytes is 0 if the share is
 * unknown. */
static inline size_t tiles_window(size_t window_bytes, size_t cache_bytes)
{
    size_t cache = cache_bytes / TILES_LINE * TILES_LINE;

    if (cache == 0 || cache >= window_bytes)
        return window_bytes;
    return cache > TILES_MIN ? cache : window_bytes < TILES_MIN ? window_bytes : TILES_MIN;
}

/* Returns the bytes of a tile, in whole lines: as wanted, or a part of the window if `wanted` is 0,
 * but never more than the window. */
static inline size_t tiles_bytes(size_t wanted, size_t window_bytes)
{
    size_t tile = wanted != 0 ? wanted : (window_bytes - TILES_LINE) / TILES_WINDOW + 1;

    tile = (tile + TILES_LINE - 1) / TILES_LINE * TILES_LINE;
    return tile < window_bytes ? tile : window_bytes;
}

/* Returns the first position, at or after `at`, where `bytes` bytes are contiguous and end within
 * the first `reach` bytes of the window. */
static inline uint64_t tiles_run(uint64_t at, size_t bytes, size_t window_bytes, size_t reach)
{
    size_t place = at % window_bytes;

    return place + bytes > reach ? at + (window_bytes - place) : at;
}

/* Returns how many bytes of a window the first tile of a block may use.  A page that is written or
 * read for the first time costs as much as some calls do, so short blocks stay within a few
 * pages. */
static inline size_t tiles_reach(size_t block_bytes, size_t window_bytes)
{
    return block_bytes <= TILES_SHORT && window_bytes > TILES_WALK ? TILES_WALK : window_bytes;
}

/* ---- counts ---- */

static const uint64_t tiles_all = UINT32_MAX; /* all tiles, of any number */

/* Returns the word to publish after a rank has consumed `tiles` tiles. */
static inline uint64_t tiles_acknowledged(uint64_t op, uint64_t tiles)
{
    return op << 32 | tiles;
}

/* Returns the word to publish after a rank has written `tiles` tiles.  `before` tells whether there
 * were tiles in the previous operation, too. */
static inline uint64_t tiles_full(uint64_t op, uint64_t tiles, bool before)
{
    return op << 32 | tiles << 1 | before;
}

/* Reports whether an operation had tiles, from a word of this operation or a later one. */
static inline bool tiles_had(uint64_t full, uint64_t op)
{
    uint32_t ahead = (uint32_t)(full >> 32) - (uint32_t)op;

    return ahead == 0 ? (uint32_t)full >> 1 != 0 : ahead == 1 && (full & 1) != 0;
}

/* ---- headers ---- */

/* Returns the place of a tile's header.  The two lines are used in turn. */
static inline int tiles_place(uint64_t op, uint64_t tile)
{
    return (int)((op % 2 * TILES_HEADERS + tile) % TILES_AHEAD);
}

/* A tile's header: where the tile begins in the window, in lines; its bytes; whether it is small;
 * and whether more tiles follow. */
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
