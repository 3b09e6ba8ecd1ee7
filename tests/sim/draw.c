/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * draw.c - draws a sequence of calls from a seed.
 *
 * Sizes and parameters are at corners: one byte around a flag's payload, pages, fragments, slots
 * and the end of the whole region. In a plan, rules share a slot unless a parameter that shapes the
 * slot differs. Likewise `per_call` parameters change from call to call here, and an algorithm may
 * have two slots. Operations are counted from 1, or from just before the 32-bit or the sign
 * overflow. The counters that algorithms keep themselves start there as well (counters.c).
 */
#include "drawn.h"

#include "check/grow.h"
#include "coll/coll.h"

#include <string.h>

enum {
    CALLS = 88,          /* calls in each slot: more than twice the buffers of any ring */
    LEVELS = 4,          /* maximum number of levels of units */
    MAX_BYTES = 1 << 20, /* largest message */
    WORK_BYTES = 8 << 20 /* all messages of a run, times ranks */
};

static uint64_t below(struct sequence *q, uint64_t end)
{
    q->random = q->random * 6364136223846793005u + 1442695040888963407u;
    return (q->random >> 33) % end;
}

/* ---- groups ---- */

static int unit_flat(struct sequence *q, int level, int rank, int below_unit)
{
    (void)q, (void)level, (void)rank, (void)below_unit;
    return -1;
}

static int unit_even(struct sequence *q, int level, int rank, int below_unit)
{
    static const int ranks[LEVELS] = { 2, 6, 12, 24 };

    (void)q, (void)below_unit;
    return rank / ranks[level];
}

/* Returns a random unit. Any two ranks may be in one unit, and some ranks span units. */
static int unit_ragged(struct sequence *q, int level, int rank, int below_unit)
{
    static const int few[LEVELS] = { 0, 6, 4, 2 }; /* number of units that contain the units of the
                                                    * level below */
    static const int ranks[LEVELS] = { 2, 4, 5,
                                       6 }; /* approximate ranks of a unit, for ranks that span the
                                             * units below */

    (void)rank;
    if (level != 0 && below_unit >= 0)
        return below_unit % few[level];
    return below(q, 8) == 0 ? -1 : (int)below(q, 1 + (uint64_t)(q->options->ranks / ranks[level]));
}

static int (*const units[STRUCTURES])(struct sequence *q, int level, int rank,
                                      int below_unit) = { unit_flat, unit_even, unit_ragged };

static void make_groups(struct sequence *q)
{
    int ranks = q->options->ranks, levels = 2 + (int)below(q, LEVELS - 1);
    int *unit = hud_must(calloc((size_t)(levels * ranks), sizeof *unit));

    for (int level = 0; level < levels; level++)
        for (int r = 0; r < ranks; r++)
            unit[level * ranks + r] = units[q->options->seed % STRUCTURES](
                q, level, r, level == 0 ? -1 : unit[(level - 1) * ranks + r]);
    struct shape_place place = { .ranks = ranks, .levels = levels, .unit = unit };
    if (hud_shape_groups_build(&place, &q->groups) != 0)
        hud_must(NULL);
    free(unit);
}

/* ---- the lease ---- */

/* Returns a corner value or a random value of a parameter. Small offsets from the minimum are drawn
 * on a logarithmic scale, because some parameters matter only below the size of a block. */
static long corner(struct sequence *q, const struct alg_param *p)
{
    uint64_t range = (uint64_t)(p->max - p->min), any = below(q, range + 1), bits = 1;

    while (bits < 63 && range >> bits != 0)
        bits++;
    uint64_t little = below(q, 1 + (range >> below(q, bits)));
    const long corners[] = { p->preset, p->min, p->max, p->min + (long)any, p->min + (long)little };

    return corners[below(q, sizeof corners / sizeof *corners)];
}

/* Draws all parameters when the slot is made, and later the parameters that may change from call to
 * call. */
static void draw_params(struct sequence *q, const struct alg *alg, bool all, long *param)
{
    for (int p = 0; alg_param_at(alg, p); p++)
        if (all || alg_param_at(alg, p)->per_call)
            param[p] = corner(q, alg_param_at(alg, p));
}

static void add_slot(struct sequence *q, const struct alg *alg)
{
    struct slot *slot = q->slots < SLOTS ? &q->slot[q->slots++] : hud_must(NULL);

    slot->alg = alg;
    draw_params(q, alg, true, slot->param);
}

/* Adds a slot of the chosen algorithm, or of every algorithm plus a second slot for a random
 * algorithm. */
static void add_slots(struct sequence *q)
{
    int algs = 0;

    while (hud_sim_algs[algs])
        algs++;
    int twice = (int)below(q, (uint64_t)algs);
    for (int a = 0; a < algs; a++) {
        if (!q->options->only || q->options->only == hud_sim_algs[a])
            add_slot(q, hud_sim_algs[a]);
        if (!q->options->only && a == twice)
            add_slot(q, hud_sim_algs[a]);
    }
}

/* Returns the number of calls that the slot pretends to have had. Returns 0 for barriers counting
 * all arrivals since the lease, since they would wait for these calls. */
static uint64_t calls_before(const struct sequence *q, int slot)
{
    static const uint64_t before[] = { 0, (UINT64_C(1) << 31) - CALLS / 4,
                                       (UINT64_C(1) << 32) - CALLS / 4,
                                       (UINT64_C(1) << 31) + CALLS };
    static const char *const adds_up[] = { "central", "combining" };
    const struct alg *alg = q->slot[slot].alg;

    for (size_t i = 0; i < sizeof adds_up / sizeof *adds_up; i++)
        if (strcmp(alg->coll, "barrier") == 0 && strcmp(alg->name, adds_up[i]) == 0)
            return 0;
    return before[(q->options->seed + (uint64_t)slot) % (sizeof before / sizeof *before)];
}

/* Gives all algorithms with a window the same region for it. */
static void share_window(struct sequence *q)
{
    size_t at = HUD_LINE;

    for (int i = 0; i < q->slots; i++) {
        struct alg_place *place = &q->slot[i].place;
        place->slot_offset = at;
        at += place->slot_bytes;
    }
    for (int i = 0; i < q->slots; i++)
        if (q->slot[i].place.window_bytes != 0) {
            q->slot[i].place.window_offset = at + HUD_LINE;
            q->slot[i].place.user = i + 1;
        }
}

static void make_layout(struct sequence *q)
{
    static const size_t leases[] = { 256 << 10, 64 << 10, 24 << 10, 1 << 20 },
                        caches[] = { 0, 8 << 10, 40000, 1 << 20 };
    size_t at = HUD_LINE; /* struct slice_head */
    int windows = 0;      /* slots with data that still need a share of the remaining bytes */

    for (int i = 0; i < q->slots; i++)
        windows += alg_holds_data(q->slot[i].alg);
    q->lease_bytes = leases[below(q, sizeof leases / sizeof *leases)];
    q->cache_bytes = caches[below(q, sizeof caches / sizeof *caches)];
    bool shares = below(q, 4) != 0;
    for (int i = 0; i < q->slots; i++) {
        struct slot *slot = &q->slot[i];
        size_t left = q->lease_bytes - HUD_LINE - at,
               max = left / (alg_holds_data(slot->alg) && windows > 0 ? (size_t)windows-- : 1);
        slot->op = slot->before = calls_before(q, i);
        slot->place = alg_place_alone(slot->alg, slot->param, q->options->ranks, at, max);
        at += alg_place_bytes(&slot->place);
    }
    if (shares)
        share_window(q);
}

/* ---- the calls ---- */

static bool accepts(const struct sequence *q, const struct step *s, size_t bytes)
{
    bool known = !coll_has(hud_coll_kind(s->call.alg->coll), COLL_UNSIZED);
    struct coll c = { .bytes = known ? bytes : 0, .param = s->param, .place = &s->slot->place };

    return alg_accepts(s->call.alg, &c, q->options->ranks);
}

/* Returns a size at a corner, or any size. */
static size_t any_size(struct sequence *q, const struct step *s)
{
    static const size_t fixed[] = { 1,   2,   7,   8,   9,    12,   13,   64,   104,
                                    112, 120, 128, 256, 1000, 4096, 8192, 65536 };
    size_t corners[2 * ALG_PARAMS + 6], count = 0, memory = alg_place_bytes(&s->slot->place);

    for (int p = 0; alg_param_at(s->call.alg, p); p++)
        if (s->param[p] > 0) {
            corners[count++] = (size_t)s->param[p];
            corners[count++] = 2 * (size_t)s->param[p];
        }
    for (size_t k = 1; k <= 4; k++)
        corners[count++] = memory / k;
    corners[count++] = 1 + below(q, 2 * memory);
    corners[count++] = 1 + below(q, 128);
    size_t i = below(q, count + sizeof fixed / sizeof *fixed);
    size_t bytes = i < count ? corners[i] : fixed[i - count];
    return bytes + 1 - below(q, 3);
}

static size_t good_size(struct sequence *q, const struct step *s, size_t max_bytes)
{
    for (int tries = 0; tries < 64; tries++) {
        size_t bytes = any_size(q, s);
        if (bytes > 0 && bytes <= max_bytes && accepts(q, s, bytes))
            return bytes;
    }
    return accepts(q, s, 1) ? 1 : 0;
}

/* Returns a random algorithm of the slot's family. */
static const struct alg *any_of_family(struct sequence *q, const struct alg *alg)
{
    const struct alg *of[SLOTS];
    uint64_t count = 0;

    for (int a = 0; !q->options->only && hud_sim_algs[a]; a++)
        if (hud_sim_algs[a]->family == alg->family)
            of[count++] = hud_sim_algs[a];
    return count <= 1 ? alg : of[below(q, count)];
}

static void draw_reduction(struct sequence *q, struct call *call)
{
    static const size_t elements[] = { 1, 2, 4, 8, 8, 8, 12, 16, 20, 100 },
                        wide[] = { HUD_LINE + 1, HUD_ELEMENT_MAX / 2 + 1, HUD_ELEMENT_MAX };
    bool any_wide = below(q, 8) == 0;

    call->element = any_wide ? wide[below(q, sizeof wide / sizeof *wide)]
                             : elements[below(q, sizeof elements / sizeof *elements)];
    if (call->bytes < call->element)
        call->element = 1;
    call->bytes -= call->bytes % call->element;
}

/* Reports whether the algorithm tolerates ranks with different counts, because it sends sizes with
 * its data. Other reductions may wait forever until the core detects the mismatch. */
static bool bears_other_counts(const struct alg *alg)
{
    int kind = hud_coll_kind(alg->coll);

    return coll_has(kind, COLL_REDUCES) ? alg->family->direct : !coll_has(kind, COLL_VIEWS);
}

/* Returns an algorithm of the same collective and slot, as a rank with another size may use. */
static const struct alg *any_for_size(struct sequence *q, const struct alg *alg)
{
    const struct alg *other = any_of_family(q, alg);

    return strcmp(other->coll, alg->coll) == 0 ? other : alg;
}

/* Returns a smaller size of whole elements, with a small or large difference. */
static size_t draw_less(struct sequence *q, const struct call *call)
{
    size_t elements = call->bytes / call->element,
           less = below(q, 2) == 0 ? 1 + below(q, elements) : 1 + below(q, 8);

    return less < elements ? (elements - less) * call->element : 0;
}

/* Draws a rank with a smaller count than the others, or lets all other ranks have smaller counts.
 * The root of a broadcast always has the full count. */
static void draw_shorter(struct sequence *q, struct step *s)
{
    struct call *call = &s->call;
    int rank = (int)below(q, (uint64_t)q->options->ranks), kind = hud_coll_kind(call->alg->coll);
    bool one_buffer = coll_has(kind, COLL_ONE_BUFFER);

    call->other_blocks = coll_has(kind, COLL_COUNTS) && below(q, 2) == 0;
    call->shorter_bytes = call->other_blocks ? call->bytes : draw_less(q, call);
    call->shorter_alg = one_buffer ? call->alg : any_for_size(q, call->alg);
    call->others_shorter = !one_buffer && below(q, 2) == 0;
    if (below(q, 6) == 0 && q->options->ranks > 1 && call->shorter_bytes > 0 &&
        !(one_buffer && rank == call->root) && accepts(q, s, call->shorter_bytes))
        call->shorter = rank;
}

/* Draws a step. Returns false if the algorithm does not fit the lease or accepts no size. */
static bool make_step(struct sequence *q, const struct slot *slot, struct step *s)
{
    int ranks = q->options->ranks;
    struct call *call = &s->call;

    *s = (struct step){ .slot = slot, .op = slot->op + 1 };
    *call = (struct call){ .alg = any_of_family(q, slot->alg),
                           .ranks = ranks,
                           .element = 1,
                           .shorter = -1,
                           .id = (uint64_t)q->count };
    memcpy(s->param, slot->param, sizeof s->param);
    draw_params(q, slot->alg, false, s->param);
    call->root = (int)(below(q, 8) < q->constant ? q->usual : below(q, (uint64_t)ranks));
    const char *coll = call->alg->coll;
    if (!call_moves(coll))
        return slot->place.slot_bytes != 0 && accepts(q, s, 0);
    size_t share = q->work_bytes / (size_t)ranks, one = call_view_bytes(coll, 1, ranks);
    call->bytes = slot->place.slot_bytes != 0
                      ? good_size(q, s, (share < MAX_BYTES ? share : MAX_BYTES) / one)
                      : 0;
    if (call->bytes == 0)
        return false;
    if (call_reduces(coll))
        draw_reduction(q, call);
    if (bears_other_counts(call->alg))
        draw_shorter(q, s);
    call->in_place = below(q, 3) == 0;
    size_t work = call->bytes * one * (size_t)ranks;
    q->work_bytes -= work < q->work_bytes ? work : q->work_bytes;
    if (call->bytes * one > q->max_bytes)
        q->max_bytes = call->bytes * one;
    return true;
}

static void make_steps(struct sequence *q)
{
    struct slot *tried[2] = { q->slot, q->slot };
    int any = CALLS * q->slots, max = q->options->only ? any : any + any / 4;

    q->work_bytes = WORK_BYTES;
    q->usual = below(q, (uint64_t)q->options->ranks);
    q->constant = 4 * below(q, 3);
    q->steps = hud_must(calloc((size_t)max, sizeof *q->steps));
    for (int i = 0; i < max; i++) {
        struct slot *slot = &q->slot[below(q, (uint64_t)q->slots)];
        /* the last calls alternate between two algorithms of a collective in pairs, as in a trial
         * (HUDDLE_WISDOM) */
        if (i % 64 == 0)
            tried[0] = slot;
        if (strcmp(slot->alg->coll, tried[0]->alg->coll) == 0)
            tried[1] = slot;
        if (i >= any && i % 16 != 0)
            slot = tried[i / 2 * 5 / 3 % 2];
        if (make_step(q, slot, &q->steps[q->count])) {
            slot->op++;
            q->count++;
        }
    }
}

void sequence_draw(struct sequence *q, const struct sequence_options *options, int team,
                   size_t lease_offset)
{
    *q = (struct sequence){ .options = options,
                            .random = options->seed * 1000003 + (uint64_t)options->ranks +
                                      (uint64_t)team * 7919,
                            .lease_offset = lease_offset };
    make_groups(q);
    add_slots(q);
    make_layout(q);
    make_steps(q);
}

void sequence_free(struct sequence *q)
{
    hud_shape_groups_free(&q->groups);
    free(q->steps);
}
