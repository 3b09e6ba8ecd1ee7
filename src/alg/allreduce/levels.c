/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * allreduce/levels.c - slices by levels: each unit's contributions to a slice are reduced inside it, and only the partial result leaves it;
 * pipelined by fragments.
 *
 * Source    this project: slices after paper 05, over paper 03's groups.
 * Shape     p ranks in L levels of groups, n bytes.  Every rank owns a slice; a rank of each unit that the owner is not in stands for the unit
 *           (shape/deputies.h), every rank for as many slices.  It reduces its unit's contributions, from below, and brings the result back for the
 *           unit to copy.
 * Cost      G units of g ranks: T = 4 F l + 2 (1 - 1/g) n t + n r + G n/p r + (1/g - 1/p) n t    ns; F fragments, l one line transfer, t ns per
 *           byte copied, r ns per byte that a reduction reads; across a link (1 - 1/G) n to each unit and as much from it (slices: g times that)
 *           traffic: beyond n in and n out a rank writes n and (1/g + 1/g - 1/p) n, and reads 2 (1 - 1/g) n from its unit, 2 (1/g - 1/p) n from others
 * Accepts   any n, if the lease has a window.
 *
 * depth: levels, from the top down, that partial results are made for; what lies below is one unit.  How slices are cut: alg/pieces.h.
 *
 * In a rank's cell of a piece lies its contribution; or, where it stands for its unit, the partial result of the highest such unit, then the
 * result.  Positions count fragments over all operations.  No acknowledgement: a result of fragment k tells that all have announced their
 * contributions to it, and so have left fragment k - 2.  Who copies in k + 1 has seen one of k - 1; four sets, so what lies there is of k - 3.
 *
 * Line                     written by   read by                     value k means
 *   slot[r].in             r            whoever stands for its      r's contributions to fragment k - 1 are in its window
 *                                       lowest unit
 *   slot[r].partial[l]     r            whoever stands for the      the partial results of fragment k - 1 that r made for its unit at level l are
 *                                       unit above                  in its window
 *   slot[r].result[l]      r            the unit at level l         the results of fragment k - 1 are, for which r stands for this unit and none above
 *   slot[r].at             r            r                           (plain) r's position
 *
 * Edges     R1 -> A1   contributions     happen before  the lowest unit's reduction
 *           R2 -> A2   partial results   happen before  the reduction of the unit above
 *           R3 -> A3   results, and by them all entries  happen before  the copies in the unit, and the next writes to a set
 */
#include "alg/pieces.h"
#include "alg/sources.h"
#include "shape/deputies.h"

enum { SETS = 4 };
enum param { FRAGMENT, BUDGET, DEPTH };

static const struct alg_param params[] = {
    [FRAGMENT] = { "fragment", "B", "bytes of a piece of a slice; 0: what the window holds", 0, 1 << 24, 0, NULL, .per_call = true },
    [BUDGET] = { "budget", "B", "bytes of the window, four fragments; 0: what the lease holds", 0, 1 << 24, 96 << 10, NULL },
    [DEPTH] = { "depth", "1", "levels of groups, from the top down, that partial results are made for", 0, SHAPE_LEVELS, SHAPE_LEVELS, NULL,
                .per_call = true, .tune = "1" },
    { .name = NULL },
};

struct slot {
    mem_flag in, partial[SHAPE_LEVELS], result[SHAPE_LEVELS];
    _Alignas(HUD_LINE) uint64_t at;
    _Alignas(HUD_LINE) char data[]; /* four sets of cells */
};

struct levels {
    struct mem *m;
    const struct coll *c;
    const struct shape_groups *groups;
    int me, base, top; /* the lowest level of units, and the highest */
    struct pieces cut;
};

static size_t slot_bytes(const long *param, int ranks, size_t most_bytes)
{
    (void)ranks;
    return pieces_slot_bytes(sizeof(struct slot), SETS, param[BUDGET], most_bytes);
}

static char *cell(const struct levels *s, const struct pieces_place *f, int rank, const struct piece *piece)
{
    return ((struct slot *)mem_slot(s->m, rank))->data + pieces_at(&s->cut, f, piece);
}

/* The highest level whose unit a rank stands for; base - 1: none. */
static int highest(const struct levels *s, int rank, const struct piece *piece)
{
    return deputies_highest(s->groups, s->base, rank, piece->owner);
}

static void contribute(const struct levels *s, const struct pieces_place *f)
{
    struct slot *mine = mem_slot(s->m, s->me);

    for (struct piece piece = pieces_before(f); pieces_each(&s->cut, f, &piece);)
        if (highest(s, s->me, &piece) < s->base)
            mem_in_all(s->m, cell(s, f, s->me, &piece), &s->c->in, piece.offset_bytes, piece.bytes);
    mem_post(s->m, &mine->in, f->at + 1); /* R1 */
}

/* The contributions of the lowest unit's ranks; the own one comes from the user's buffer. */
static void add_ranks(const struct levels *s, const struct pieces_place *f, const struct piece *piece, struct sources *x)
{
    for (int r = deputies_lead(s->groups, s->base, s->me); r >= 0; r = deputies_next(s->groups, s->base, r)) {
        struct slot *other = mem_slot(s->m, r);
        if (r == s->me)
            continue;
        mem_await(s->m, &other->in, f->at + 1); /* A1 */
        sources_add(x, (struct mem_span){ .shared = cell(s, f, r, piece) });
    }
}

/* The partial results of the units below; the own one lies in the own cell. */
static void add_units(const struct levels *s, const struct pieces_place *f, const struct piece *piece, int level, struct sources *x)
{
    int count;
    const int *units = shape_members(s->groups, level, deputies_lead(s->groups, level - 1, s->me), &count);

    for (int i = 0; i < count; i++) {
        int r = deputies_of(s->groups, level - 1, units[i], piece->owner);
        struct slot *other = mem_slot(s->m, r);
        if (r == s->me)
            continue;
        mem_await(s->m, &other->partial[level - 1], f->at + 1); /* A2 */
        sources_add(x, (struct mem_span){ .shared = cell(s, f, r, piece) });
    }
}

static void reduce(const struct levels *s, const struct pieces_place *f, const struct piece *piece, int level)
{
    const struct mem_span own = { .view = &s->c->in, .offset_bytes = piece->offset_bytes };
    const struct mem_span out = { .view = &s->c->out, .offset_bytes = piece->offset_bytes };
    const struct mem_span mine = { .shared = cell(s, f, s->me, piece) };
    struct sources x;
    bool last = level == s->top;

    sources_begin(&x, s->m, s->c, &mine, piece->bytes);
    sources_add(&x, level == s->base ? own : mine);
    if (level == s->base)
        add_ranks(s, f, piece, &x);
    else
        add_units(s, f, piece, level, &x);
    sources_reduce(&x, last ? &out : &mine, last ? &mine : NULL);
}

/* Up the levels, as far as the caller stands for units: at the top it is the owner. */
static void reduce_all(const struct levels *s, const struct pieces_place *f)
{
    struct slot *mine = mem_slot(s->m, s->me);

    for (int level = s->base; level <= s->top; level++) {
        bool any = false;
        for (struct piece piece = pieces_before(f); pieces_each(&s->cut, f, &piece);)
            if (piece.bytes != 0 && highest(s, s->me, &piece) >= level) {
                reduce(s, f, &piece, level);
                any = true;
            }
        if (any && level < s->top)
            mem_post(s->m, &mine->partial[level], f->at + 1); /* R2 */
        else if (any)
            mem_post(s->m, &mine->result[level], f->at + 1); /* R3 */
    }
}

/* From whoever stands for the unit above `level`; who stands for the unit at that level itself keeps it for those below. */
static void fetch(const struct levels *s, const struct pieces_place *f, const struct piece *piece, int level)
{
    int from = deputies_of(s->groups, level + 1, deputies_lead(s->groups, level + 1, s->me), piece->owner);
    struct slot *above = mem_slot(s->m, from);
    char *result = cell(s, f, from, piece), *mine = cell(s, f, s->me, piece);

    mem_await(s->m, &above->result[highest(s, from, piece)], f->at + 1); /* A3 */
    if (level >= s->base)
        mem_copy(s->m, mine, result, piece->bytes);
    mem_out(s->m, &s->c->out, level >= s->base ? mine : result, piece->offset_bytes, piece->bytes);
}

static void collect(const struct levels *s, const struct pieces_place *f)
{
    struct slot *mine = mem_slot(s->m, s->me);

    for (int level = s->top - 1; level >= s->base - 1; level--) {
        bool any = false;
        for (struct piece piece = pieces_before(f); pieces_each(&s->cut, f, &piece);)
            if (piece.bytes != 0 && highest(s, s->me, &piece) == level) {
                fetch(s, f, &piece, level);
                any = true;
            }
        if (any && level >= s->base)
            mem_post(s->m, &mine->result[level], f->at + 1); /* R3 */
    }
}

static void run(struct mem *m, const struct coll *c)
{
    int top = c->groups->levels - 1, base = top - (int)c->param[DEPTH];
    struct slot *mine = mem_slot(m, mem_rank(m));
    struct levels s = { .m = m, .c = c, .groups = c->groups, .me = mem_rank(m), .base = base > 0 ? base : 0, .top = top };
    struct pieces_place now = { .at = mem_get(m, &mine->at) }, next;

    s.cut = pieces_cut(c, mem_size(m), NULL, sizeof(struct slot), SETS, c->param[FRAGMENT]);
    pieces_begin(&s.cut, &now);
    for (contribute(&s, &now); pieces_more(&s.cut, &now); now = next) {
        next = now;
        pieces_next(&s.cut, &next);
        reduce_all(&s, &now);
        if (pieces_more(&s.cut, &next))
            contribute(&s, &next);
        collect(&s, &now);
    }
    mem_put(m, &mine->at, now.at);
}

ALG_DEFINE(allreduce, levels) = {
    .coll = "allreduce",
    .name = "levels",
    .doc = "slices, of which each NUMA node or socket makes a partial result, and only that crosses to the others",
    .source = "this project, after papers 05 (slices) and 03 (groups)",
    .params = params,
    .slot_bytes = slot_bytes,
    .run = run,
};
