/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * slices.h - the family `slices`: the result is cut over ranks that own its slices; an owner reduces its own slice of all contributions in one pass.
 *
 * The message goes by fragments, and a fragment has a piece of each owner's slice.  The slot of a rank holds three sets of cells, used in turn, a cell for each owner:
 * in the cells of others lies what the rank contributes to their pieces, in its own cell the result of its own piece.  For a fragment a rank
 *
 *   copies its contributions in, but for its own piece | awaits all others' | reduces its piece, in rank order, and announces it | copies the others' results out
 *
 * and while the others still reduce it copies in the next fragment.  No acknowledgement: who has announced its contributions to fragment k has left fragment k - 2, so
 * who has awaited all of these may write the set of k - 2 again, for k + 1.
 *
 * Owners: ranks first, first + 1, ... around, as the collective says.  Where a set has no room for a piece of each, of a line and an element at least, owners
 * take turns: so many at once as fit.  Slices are whole elements, and whole lines where elements fit lines.
 *
 * Positions count fragments over all operations of the family.
 *
 * Line              written by   read by                  value k means
 *   slot[r].in      r            all others               r's contributions to fragment k - 1 are in its window; r has left fragment k - 3
 *   slot[r].result  r            who copies results out   r's piece of fragment k - 1 is in its window
 *   slot[r].at      r            r                        (plain) r's position
 *
 * Edges     R1 -> A1   a rank's contributions to a fragment      happen before  the owners' reading them
 *                      a rank's last reads of the one before the last  happen before  the others' next writes to its set
 *           R2 -> A2   an owner's result                         happens before  the others' copying it out
 */
#ifndef HUD_ALG_SLICES_H
#define HUD_ALG_SLICES_H

#include "alg/alg.h"

enum { SLICES_SETS = 3 };

enum slices_param { SLICES_FRAGMENT, SLICES_BUDGET };

#define SLICES_PARAMS                                                                                                                      \
    {                                                                                                                                      \
        [SLICES_FRAGMENT] = { "fragment",                                                                                                  \
                              "B",                                                                                                         \
                              "bytes of a piece of a slice; 0: what the window holds",                                                     \
                              0,                                                                                                           \
                              1 << 24,                                                                                                     \
                              0,                                                                                                           \
                              NULL,                                                                                                        \
                              .per_call = true,                                                                                            \
                              .tune = "4K,8K,16K,32K" },                                                                                   \
        [SLICES_BUDGET] = { "budget", "B", "bytes of the window, three fragments; 0: what the lease holds", 0, 1 << 24, 192 << 10, NULL }, \
        { .name = NULL },                                                                                                                  \
    }

struct slices_slot {
    mem_flag in, result;
    _Alignas(HUD_LINE) uint64_t at;
    _Alignas(HUD_LINE) char data[]; /* three sets of cells */
};

/* What a collective makes of the family, on one rank. */
struct slices_way {
    int first, count; /* owners */
    bool keeps;       /* an owner has the result of its own piece in its out */
    bool publishes;   /* an owner has it in its window, for others to copy */
    bool collects;    /* this rank copies out what others own */
    bool blocks;      /* the slices are c->block_bytes, and out is the own one; else out is all of them */
    bool all_in;      /* also the own piece's contribution goes through the window: out lies across in */
};

struct slices {
    struct mem *m;
    const struct coll *c;
    struct slices_way way;
    int at_once;        /* owners with a piece in one fragment */
    size_t block_bytes; /* of each slice but the last ones, unless way.blocks */
    size_t set_bytes, cell_bytes, piece_bytes;
};

/* A fragment. */
struct slices_place {
    uint64_t at;                   /* its position */
    int owner;                     /* the first with a piece, counted from `first` on */
    size_t start_bytes;            /* where that one's slice begins */
    size_t done_bytes, most_bytes; /* of the slices; of the longest of them */
};

/* A piece of a fragment. */
struct slices_piece {
    int owner;
    size_t offset_bytes, bytes;
};

static inline size_t slices_least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Room for one element of the largest there are at least. */
static inline size_t slices_slot_bytes(const long *param, int ranks, size_t most_bytes)
{
    size_t room = most_bytes > sizeof(struct slices_slot) ? most_bytes - sizeof(struct slices_slot) : 0;
    size_t wanted = param[SLICES_BUDGET] != 0 ? (size_t)param[SLICES_BUDGET] : room;
    size_t set = slices_least(wanted > SLICES_SETS * HUD_ELEMENT_MOST ? wanted : SLICES_SETS * HUD_ELEMENT_MOST, room) / SLICES_SETS;

    (void)ranks;
    return set < HUD_ELEMENT_MOST ? 0 : sizeof(struct slices_slot) + SLICES_SETS * (set / HUD_LINE * HUD_LINE);
}

/* ---- how a call is cut ---- */

static inline size_t slices_block(const struct slices *s, int owner)
{
    size_t before = (size_t)owner * s->block_bytes;

    if (s->way.blocks)
        return s->c->block_bytes[owner];
    return before < s->c->bytes ? slices_least(s->block_bytes, s->c->bytes - before) : 0;
}

/* Whole elements, and lines if they fit. */
static inline size_t slices_unit(const struct coll *c)
{
    size_t element = c->reduction->element_bytes;

    return HUD_LINE % element == 0 ? HUD_LINE : element;
}

static inline size_t slices_round_up(size_t bytes, size_t unit)
{
    return (bytes + unit - 1) / unit * unit;
}

/* Of the longest slice, in equal parts that fit a cell. */
static inline size_t slices_piece_bytes(const struct slices *s, size_t unit)
{
    size_t most = s->cell_bytes / unit * unit, wanted = (size_t)s->c->param[SLICES_FRAGMENT], longest = 1;

    if (wanted != 0)
        most = slices_least(most, slices_round_up(wanted, unit));
    for (int i = 0; i < s->way.count; i++)
        longest = slices_block(s, i) > longest ? slices_block(s, i) : longest;
    size_t parts = (longest + most - 1) / most;
    return slices_round_up((longest + parts - 1) / parts, unit);
}

static inline struct slices slices_cut(struct mem *m, const struct coll *c, const struct slices_way *way)
{
    size_t unit = slices_unit(c), least = mem_lines(unit), count = (size_t)way->count;
    struct slices s = { .m = m, .c = c, .way = *way };

    s.block_bytes = slices_round_up((c->bytes + count - 1) / count, unit);
    s.set_bytes = (c->slot_bytes - sizeof(struct slices_slot)) / SLICES_SETS / HUD_LINE * HUD_LINE;
    s.at_once = (int)slices_least(count, s.set_bytes / least);
    s.cell_bytes = s.set_bytes / (size_t)s.at_once / HUD_LINE * HUD_LINE;
    s.piece_bytes = slices_piece_bytes(&s, unit);
    return s;
}

/* ---- fragments ---- */

static inline bool slices_more(const struct slices *s, const struct slices_place *f)
{
    return f->owner < s->way.count;
}

static inline int slices_end(const struct slices *s, const struct slices_place *f)
{
    return (int)slices_least((size_t)(f->owner + s->at_once), (size_t)s->way.count);
}

/* The beginning of the slices of those whose turn it is, or, if these are all empty, of the next ones'. */
static inline void slices_turn(const struct slices *s, struct slices_place *f)
{
    f->done_bytes = f->most_bytes = 0;
    while (f->most_bytes == 0 && slices_more(s, f)) {
        for (int i = f->owner; i < slices_end(s, f); i++)
            f->most_bytes = slices_block(s, i) > f->most_bytes ? slices_block(s, i) : f->most_bytes;
        if (f->most_bytes == 0)
            f->owner = slices_end(s, f);
    }
}

static inline void slices_next(const struct slices *s, struct slices_place *f)
{
    int end = slices_end(s, f);

    f->at++;
    f->done_bytes += s->piece_bytes;
    if (f->done_bytes < f->most_bytes)
        return;
    for (; f->owner < end; f->owner++)
        f->start_bytes += slices_block(s, f->owner);
    slices_turn(s, f);
}

/* Pieces of a fragment, in the order of the message: begins before the first; false: there are no more. */
static inline struct slices_piece slices_before(const struct slices_place *f)
{
    return (struct slices_piece){ .owner = f->owner - 1, .offset_bytes = f->start_bytes + f->done_bytes };
}

static inline bool slices_piece(const struct slices *s, const struct slices_place *f, struct slices_piece *piece)
{
    if (piece->owner >= f->owner)
        piece->offset_bytes += slices_block(s, piece->owner);
    if (++piece->owner == slices_end(s, f))
        return false;
    size_t block = slices_block(s, piece->owner);
    piece->bytes = block > f->done_bytes ? slices_least(s->piece_bytes, block - f->done_bytes) : 0;
    return true;
}

static inline int slices_rank(const struct slices *s, const struct slices_piece *piece)
{
    return (s->way.first + piece->owner) % mem_size(s->m);
}

/* In a rank's window: its contribution to another's piece, or the result of its own. */
static inline void *slices_cell(const struct slices *s, const struct slices_place *f, int rank, const struct slices_piece *piece)
{
    struct slices_slot *slot = mem_slot(s->m, rank);

    return slot->data + f->at % SLICES_SETS * s->set_bytes + (size_t)(piece->owner - f->owner) * s->cell_bytes;
}

/* ---- the steps of a rank ---- */

static inline void slices_contribute(const struct slices *s, const struct slices_place *f)
{
    int me = mem_rank(s->m);
    struct slices_slot *mine = mem_slot(s->m, me);
    struct slices_piece piece = slices_before(f);

    while (slices_piece(s, f, &piece)) {
        char *to = slices_cell(s, f, me, &piece);
        bool in = s->way.all_in || slices_rank(s, &piece) != me;
        for (size_t taken = 0; in && taken < piece.bytes;)
            taken += mem_in(s->m, to + taken, &s->c->in, piece.offset_bytes + taken, piece.bytes - taken);
    }
    mem_post(s->m, &mine->in, f->at + 1); /* R1 */
}

static inline void slices_await(const struct slices *s, const struct slices_place *f)
{
    int me = mem_rank(s->m), ranks = mem_size(s->m);

    for (int k = 1; k < ranks; k++) {
        struct slices_slot *other = mem_slot(s->m, (me + k) % ranks);
        mem_await(s->m, &other->in, f->at + 1); /* A1 */
    }
}

/*
 * The own piece, so many sources at once as mem_reduce takes: what has been reduced so far is the first of the next.  Where the result goes to both places it is
 * made in out and copied to the window: lines that others have read are slow to write, and a copy does that best (two ranks, 64K in pieces of 32K: 12 us instead of
 * 14, line transfer 55 ns).
 */
static inline void slices_reduce(const struct slices *s, const struct slices_place *f, const struct slices_piece *piece)
{
    int me = mem_rank(s->m), count = 0, ranks = mem_size(s->m);
    size_t done = s->way.blocks ? f->done_bytes : piece->offset_bytes;
    const struct mem_span own = { .view = &s->c->in, .offset_bytes = piece->offset_bytes };
    const struct mem_span out = { .view = &s->c->out, .offset_bytes = done }, cell = { .shared = slices_cell(s, f, me, piece) };
    const struct mem_span *sum = s->way.all_in ? &out : &cell, *also = s->way.publishes && s->way.keeps ? &cell : NULL;
    struct mem_span from[MEM_SOURCES];

    for (int r = 0; r < ranks; r++) {
        from[count++] = r == me && !s->way.all_in ? own : (struct mem_span){ .shared = slices_cell(s, f, r, piece) };
        if (r == ranks - 1) {
            mem_reduce(s->m, s->c->reduction, s->way.keeps ? &out : &cell, also, from, count, piece->bytes);
        } else if (count == MEM_SOURCES) {
            mem_reduce(s->m, s->c->reduction, sum, NULL, from, count, piece->bytes);
            from[0] = *sum;
            count = 1;
        }
    }
}

static inline void slices_own(const struct slices *s, const struct slices_place *f)
{
    struct slices_slot *mine = mem_slot(s->m, mem_rank(s->m));
    struct slices_piece piece = slices_before(f);

    while (slices_piece(s, f, &piece)) {
        if (slices_rank(s, &piece) != mem_rank(s->m) || piece.bytes == 0)
            continue;
        slices_reduce(s, f, &piece);
        if (s->way.publishes)
            mem_post(s->m, &mine->result, f->at + 1); /* R2 */
    }
}

static inline void slices_collect(const struct slices *s, const struct slices_place *f)
{
    struct slices_piece piece = slices_before(f);

    while (slices_piece(s, f, &piece)) {
        int rank = slices_rank(s, &piece);
        struct slices_slot *owner = mem_slot(s->m, rank);
        if (rank == mem_rank(s->m) || piece.bytes == 0)
            continue;
        mem_await(s->m, &owner->result, f->at + 1); /* A2 */
        mem_out(s->m, &s->c->out, slices_cell(s, f, rank, &piece), piece.offset_bytes, piece.bytes);
    }
}

static inline void slices_run(struct mem *m, const struct coll *c, const struct slices_way *way)
{
    struct slices s = slices_cut(m, c, way);
    struct slices_slot *mine = mem_slot(m, mem_rank(m));
    struct slices_place now = { .at = mem_get(m, &mine->at) }, next;

    slices_turn(&s, &now);
    for (slices_contribute(&s, &now); slices_more(&s, &now); now = next) {
        next = now;
        slices_next(&s, &next);
        slices_await(&s, &now);
        slices_own(&s, &now);
        if (slices_more(&s, &next))
            slices_contribute(&s, &next);
        if (way->collects)
            slices_collect(&s, &now);
    }
    mem_put(m, &mine->at, now.at);
}

#endif
