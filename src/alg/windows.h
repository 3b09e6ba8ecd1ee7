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
 *           per rank 392 bytes for each other rank, and the window
 * Accepts   any block, if the lease has a window: the slot needs 392 bytes for each rank and a line, so 200 ranks 77K, where the built-in table's other windows
 *           take as much each.  A pair whose block is of zero bytes takes no part: both its ends know.
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
 * A block that is shorter than its receiver expects ends where its last tile says so; what is longer than the view is dropped, and the call reports that.
 *
 * Small tiles.  One of at most 64 bytes travels in the line of its flag. There are two in turn, and the line is written again only once its reader was heard in a later
 * operation than that of the small tile before: whoever writes for operation k has left all tiles of k - 1. Where both ends send, that is how most tiles are known to be left.
 *
 * Line                      written by   read by     value k means
 *   slot[r].to[d].full[k%2] r            d           r has written tile k for d; notices of the last of them: place, bytes, whether more follow
 *   slot[d].to[r].left      d            r           d has left the first k tiles of r's for it; d's own counts
 *   slot[r].at, .out        r            r           (plain) r's position in its window, and the tiles not known to be left
 *   slot[r] order           r            r           (plain) whom r meets, in turn: written in the first operation
 *
 * Edges     R1 -> A1   a copy into a tile          happens before  its partner's copy out of it
 *                      a rank's copies out before  happen before   its partner's copies into those bytes after
 *           R2 -> A2   a copy out of a tile        happens before  the next copy into those bytes, and into the word of its notice
 */
#ifndef HUD_ALG_WINDOWS_H
#define HUD_ALG_WINDOWS_H

#include "alg/alg.h"
#include "shape/meetings.h"

enum windows_param { WINDOWS_TILE, WINDOWS_BUDGET };

#define WINDOWS_PARAMS                                                                                                                     \
    {                                                                                                                                      \
        [WINDOWS_TILE] = { "tile", "B", "bytes exchanged at a time; 0: a quarter of the window", 0, 1 << 24, 0, NULL, true, "8K,32K" },    \
        [WINDOWS_BUDGET] = { "budget", "B", "a rank's window, up to its L3 share; 0: all", 0, 1 << 28, 128 << 10, NULL, .tune = "512K" },  \
        { .name = NULL },                                                                                                                  \
    }

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

/* What a rank remembers of a peer, in the payload of its own `left`: tiles sent and taken, the last operation in which it was heard, and those of the last small tiles. */
enum { WINDOWS_SENT, WINDOWS_TAKEN, WINDOWS_HEARD, WINDOWS_SMALL_OP };

struct windows_slot {
    _Alignas(HUD_LINE) uint64_t at; /* bytes since the window began; a tile begins a line and goes over no end */
    uint64_t first, next;           /* tiles [first, next) are out */
    uint64_t met;                   /* ranks in the order of meetings: none, or all others */
    uint64_t out[WINDOWS_AHEAD][WINDOWS_WORDS];
    struct windows_lines {
        mem_flag full[2], left;
    } to[]; /* [ranks]; then the order, a word for each rank: step, and whom this rank meets in it; then the window */
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

static inline size_t windows_head_bytes(int ranks)
{
    return sizeof(struct windows_slot) + (size_t)ranks * sizeof(struct windows_lines) + mem_lines((size_t)ranks * sizeof(uint64_t));
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
    uint64_t at, first, next;
    int turn, peer;
    uint64_t tile;
};

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
    uint64_t word[WINDOWS_BATCH], after = 0, *order = (uint64_t *)&w->mine->to[w->ranks];
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
    return (int)(uint32_t)mem_get(w->m, (const uint64_t *)&w->mine->to[w->ranks] + turn);
}

/* Where a tile lies, in a slot and with the line that tells of it. */
static inline char *windows_data(const struct windows *w, struct windows_slot *slot, mem_flag *full, uint64_t notice)
{
    return notice & WINDOWS_INLINE ? (char *)&full->payload[WINDOWS_NOTICES]
                                   : (char *)slot + windows_head_bytes(w->ranks) + (notice >> 32) * HUD_LINE;
}

/* What this rank remembers of a peer. */
static inline uint64_t *windows_known(const struct windows *w, int peer, int word)
{
    return &w->mine->to[peer].left.payload[word];
}

/* Goes on to a partner that has a tile to get, or beyond the last. */
static inline void windows_settle(struct windows *w)
{
    for (; w->turn < w->ranks - 1; w->turn++, w->tile = 0) {
        w->peer = windows_partner(w, w->turn);
        if (w->tile * w->tile_bytes < windows_in(w, w->peer).bytes)
            return;
    }
}

/* The oldest tile that is out has been left; false: not yet, and nobody waited. */
static inline bool windows_reclaim(struct windows *w, bool wait)
{
    const uint64_t *oldest = w->mine->out[w->first % WINDOWS_AHEAD];
    uint64_t count = mem_get(w->m, &oldest[WINDOWS_COUNT]);
    int rank = (int)mem_get(w->m, &oldest[WINDOWS_PEER]);
    struct windows_slot *peer = mem_slot(w->m, rank);
    mem_flag *left = &peer->to[w->me].left;

    if (mem_get(w->m, windows_known(w, rank, WINDOWS_HEARD)) > mem_get(w->m, &oldest[WINDOWS_OP]))
        ; /* it has left all of that operation */
    else if (wait)
        mem_await(w->m, left, count);                     /* A2 */
    else if ((int64_t)(mem_peek(w->m, left) - count) < 0) /* A2 */
        return false;
    w->first++;
    return true;
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

/* The next tile for a peer may travel in its line: it is small, and the last one there was left. */
static inline bool windows_is_small(const struct windows *w, int peer, uint64_t count, size_t bytes)
{
    return bytes <= WINDOWS_SMALL && mem_get(w->m, windows_known(w, peer, WINDOWS_HEARD)) >
                                         mem_get(w->m, windows_known(w, peer, WINDOWS_SMALL_OP + (int)(count % 2)));
}

/* A tile is out: remembers it, and tells its reader. */
static inline void windows_tell(struct windows *w, uint64_t count, uint64_t notice)
{
    struct mem *m = w->m;
    mem_flag *full = &w->mine->to[w->peer].full[count % 2];
    uint64_t *out = w->mine->out[w->next++ % WINDOWS_AHEAD];

    mem_put(m, &out[WINDOWS_PEER], (uint64_t)w->peer);
    mem_put(m, &out[WINDOWS_COUNT], count);
    mem_put(m, &out[WINDOWS_OP], w->c->op);
    mem_put(m, &out[WINDOWS_AT], w->at);
    mem_put(m, windows_known(w, w->peer, WINDOWS_SENT), count);
    if (notice & WINDOWS_INLINE)
        mem_put(m, windows_known(w, w->peer, WINDOWS_SMALL_OP + (int)(count % 2)), w->c->op);
    mem_put(m, &full->payload[count / 2 % WINDOWS_NOTICES], notice);
    mem_post(m, full, count); /* R1 */
}

/* Writes the next tile; false: there is none, or no room for it yet and nobody waited. */
static inline bool windows_write(struct windows *w, bool wait)
{
    if (w->turn == w->ranks - 1)
        return false;
    struct windows_block in = windows_in(w, w->peer);
    size_t done = w->tile * w->tile_bytes, rest = in.bytes - done, bytes = rest < w->tile_bytes ? rest : w->tile_bytes;
    uint64_t count = mem_get(w->m, windows_known(w, w->peer, WINDOWS_SENT)) + 1;
    bool small = windows_is_small(w, w->peer, count, bytes);
    size_t room = small ? 0 : mem_lines(bytes);
    if (!windows_make_room(w, room, wait))
        return false;
    uint64_t notice = windows_notice(w->at % w->window_bytes, bytes, small, bytes < rest);
    char *data = windows_data(w, w->mine, &w->mine->to[w->peer].full[count % 2], notice);
    for (size_t taken = 0; taken < bytes;)
        taken += mem_in(w->m, data + taken, in.span.view, in.span.offset_bytes + done + taken, bytes - taken);
    windows_tell(w, count, notice);
    w->at += room;
    w->tile++;
    windows_settle(w);
    return true;
}

/* Takes the block of a turn's partner, tile by tile, each once the own tile of that turn and number is written. */
static inline void windows_take(struct windows *w, int turn, int peer)
{
    struct windows_slot *from = mem_slot(w->m, peer);
    struct windows_lines *mine = &w->mine->to[peer];
    struct windows_block out = windows_out(w, peer);
    uint64_t count = mem_get(w->m, windows_known(w, peer, WINDOWS_TAKEN)), tile = 0, notice;

    do {
        mem_flag *full = &from->to[w->me].full[++count % 2];
        while (w->turn < turn || (w->turn == turn && w->tile <= tile))
            windows_write(w, true);
        while (windows_write(w, false))
            ;
        mem_await(w->m, full, count); /* A1 */
        notice = mem_get(w->m, &full->payload[count / 2 % WINDOWS_NOTICES]);
        mem_out(w->m, out.span.view, windows_data(w, from, full, notice), out.span.offset_bytes, windows_bytes(notice));
        out.span.offset_bytes += windows_bytes(notice);
        mem_post(w->m, &mine->left, count); /* R2 */
        tile++;
    } while (notice & WINDOWS_MORE);
    mem_put(w->m, windows_known(w, peer, WINDOWS_TAKEN), count);
    mem_put(w->m, windows_known(w, peer, WINDOWS_HEARD), w->c->op);
    mem_claim(w->m, &mine->full[(mem_get(w->m, windows_known(w, peer, WINDOWS_SENT)) + 1) % 2], sizeof mine->full[0]);
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
    w.at = mem_get(m, &w.mine->at);
    w.first = mem_get(m, &w.mine->first);
    w.next = mem_get(m, &w.mine->next);
    uint64_t began = w.at;
    if (mem_get(m, &w.mine->met) == 0)
        windows_meet(&w);
    windows_settle(&w);
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
    mem_put(m, &w.mine->at, w.at);
    mem_put(m, &w.mine->first, w.first);
    mem_put(m, &w.mine->next, w.next);
}

#endif
