/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * windows_slot.h - the memory of an exchange by windows: a rank's slot, and what the rank is at in
 * it.
 *
 * Line                      written by   read by     value means
 *   slot[r].to[d].full, left                         see windows_pair.h
 *   slot[r].at, .out        r            r           (plain) r's position in its window, and the
 *                                                    tiles not known to be left: windows_write.h
 *   slot[r] known, order    r            r           (plain) what r remembers of each rank; whom r
 *                                                    meets, in turn: written in the first operation
 */
#ifndef HUD_ALG_WINDOWS_SLOT_H
#define HUD_ALG_WINDOWS_SLOT_H

#include "alg/alg.h"
#include "shape/meetings.h"
#include "shape/tiles.h"

_Static_assert((int)TILES_LINE == (int)HUD_LINE, "tiles begin lines");

enum windows_param { WINDOWS_TILE, WINDOWS_BUDGET };

#define WINDOWS_PARAMS                                                                               \
    {                                                                                                \
        [WINDOWS_TILE] = { "tile", "B",     "bytes exchanged at a time; 0: a quarter of the window", \
                           0,      1 << 24, 0,                                                       \
                           NULL,   true,    "8K,32K" },                                              \
        [WINDOWS_BUDGET] = { "budget", "B",           "a rank's window, up to its L3 share; 0: all", \
                             0,        1 << 28,       128 << 10,                                     \
                             NULL,     .tune = "512K" },                                             \
        { .name = NULL },                                                                            \
    }

/* What a rank remembers of a tile that is out: for whom, the how many-th for him, of which
 * operation, where it begins. */
enum { WINDOWS_PEER, WINDOWS_COUNT, WINDOWS_OP, WINDOWS_AT, WINDOWS_WORDS };

/*
 * What a rank remembers of a peer: the last operation in which it was heard; those of the last
 * small tiles, by line; the last operations, an even and an odd one, that had tiles for it, and how
 * many: 0 once all are known to be left.
 */
enum {
    WINDOWS_HEARD,
    WINDOWS_SMALL_OP,
    WINDOWS_LAST_OP = WINDOWS_SMALL_OP + 2,
    WINDOWS_LAST = WINDOWS_LAST_OP + 2,
    WINDOWS_KNOWN = 8
};

struct windows_slot {
    _Alignas(HUD_LINE)
        uint64_t at; /* bytes since the window began; a tile begins a line and goes over no end */
    uint64_t op;     /* operations so far, from the first in this slot on: each posts every pair's
                        flags, so none falls 2^31 behind */
    uint64_t first, next; /* tiles [first, next) are out */
    uint64_t met;         /* ranks in the order of meetings: none, or all others */
    uint64_t out[TILES_AHEAD][WINDOWS_WORDS];
    struct windows_lines {
        mem_flag full[2], left;
    } to[]; /* [ranks]; then what is known of each rank; then the order, a word for each rank: step,
               and whom this rank meets in it; then the window */
};

static inline size_t windows_head_bytes(int ranks)
{
    return sizeof(struct windows_slot) + (size_t)ranks * sizeof(struct windows_lines) +
           mem_lines((size_t)ranks * (WINDOWS_KNOWN + 1) * sizeof(uint64_t));
}

static inline size_t windows_slot_bytes(const long *param, int ranks, size_t max_bytes)
{
    size_t head = windows_head_bytes(ranks),
           room = max_bytes > head ? (max_bytes - head) / HUD_LINE * HUD_LINE : 0;
    size_t wanted = mem_lines((size_t)param[WINDOWS_BUDGET]);

    room = wanted != 0 && wanted < room ? wanted : room;
    return room == 0 ? 0 : head + room;
}

/* One rank's exchange: where it is in its window, and where the next tile comes from: its partner,
 * the how many-th, and its number. */
struct windows {
    struct mem *m;
    const struct coll *c;
    struct windows_slot *mine;
    int me, ranks;
    bool same; /* each rank gets the same block of this one: `in`, or in place its own part of it */
    size_t window_bytes, tile_bytes;
    uint64_t op, at, first, next;
    int turn, peer;
    uint64_t tile;
};

static inline uint64_t *windows_order(const struct windows *w)
{
    return (uint64_t *)&w->mine->to[w->ranks] + (size_t)w->ranks * WINDOWS_KNOWN;
}

/* What this rank remembers of a peer. */
static inline uint64_t *windows_known(const struct windows *w, int peer, int word)
{
    return (uint64_t *)&w->mine->to[w->ranks] + (size_t)peer * WINDOWS_KNOWN + word;
}

static inline char *windows_bytes(const struct windows *w, struct windows_slot *slot)
{
    return (char *)slot + windows_head_bytes(w->ranks);
}

/* Sorts the other ranks by the steps in which this one meets them. */
static inline void windows_meet(const struct windows *w)
{
    enum { BATCH = 64 }; /* meetings that are sorted at a time */
    const struct meetings o = meetings_of(w->c->groups);
    struct meetings_rank me = meetings_none;
    uint64_t word[BATCH], after = 0, *order = windows_order(w);
    int met = 0;

    while (meetings_next(&o, &me) && me.rank != w->me)
        ;
    for (int count; (count = meetings_after(&o, &me, after, BATCH, word)) != 0;
         after = word[count - 1])
        for (int i = 0; i < count; i++)
            mem_put(w->m, &order[met++], word[i]);
    mem_put(w->m, &w->mine->met, (uint64_t)met);
}

/* Whom this rank meets so many-th, from 0 on. */
static inline int windows_partner(const struct windows *w, int turn)
{
    return meetings_with(mem_get(w->m, windows_order(w) + turn));
}

#endif
