/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * others.c - the other candidates of a plan's cells, which teams try against the first choices
 * (core/call/learn.h).
 *
 * Order      other rules that cover the cell; the collective's other algorithms; the first choice's
 *            algorithm with the values that its parameters list for tuning (alg_param.tune); the
 *            same for other algorithms.  Baselines are not candidates.  The MPI's own collective
 *            comes last.
 * Bits       Trials never change a result.  The MPI's own reduction is not tried: some MPIs
 *            saturate sums, or compare signed numbers as unsigned ones, so even integers may
 *            differ from huddle's.  If it is the first choice, nothing else is tried.  Of a
 *            reduction whose bits depend on the order of the ranks, only candidates are tried that
 *            combine the ranks one after the other from rank 0 on (alg.ordered), and only if the
 *            first choice does so, too.  The others, and the MPI's own reduction, serve only if
 *            wisdom names them (plan_cell.tried), except with HUDDLE_LAB_TRY_ALL.  There are none
 *            under HUDDLE_REDUCE_ORDER=fixed.
 * Memory     The first choices are laid out before.  The others get memory that is left: all of
 *            them at once, or one after the other if there is no room for all.  A slice grows at
 *            most by an eighth and by a 32nd of its maximum, and a small slice does not grow.  A
 *            communicator must not cost another one its memory.  Large windows are shared, so most
 *            candidates need only lines.  One is dropped if a first choice would have to share its
 *            window, or lose more than a quarter of it, or if it keeps more than PLAN_OWN_WINDOW of
 *            data among its lines.
 * None       for cells that a setting or a tuning file decides, for calls of which no rank knows
 *            all sizes (alltoallv, gatherv), and for broadcasts if comparisons of sizes have no
 *            slot of their own.  In the slot of the program's allreduces a comparison could meet a
 *            later allreduce of a root that has returned from the broadcast.
 */
#include "core/plan/plan_builder.h"

#include <string.h>

/* Smaller slices have no table of known choices (wisdom_table.h), and do not grow. */
enum { OTHERS_MIN_BYTES = 256 << 10 };

bool hud_others_wanted(const struct config *config, bool windows)
{
    return config->number[SET_WISDOM] != WISDOM_OFF && windows;
}

size_t hud_others_bytes(size_t bytes, size_t max_bytes)
{
    size_t limit = bytes + bytes / 8 + max_bytes / 32;

    if (max_bytes < OTHERS_MIN_BYTES)
        return bytes;
    limit = limit > OTHERS_MIN_BYTES ? limit : OTHERS_MIN_BYTES;
    return (limit < max_bytes ? limit : max_bytes) / HUD_LINE * HUD_LINE;
}

/* ---- cells ---- */

static bool is_open(const struct plan_builder *k, int axis, const struct plan_cell *cell)
{
    int kind = axis % COLL_KINDS;
    bool sized = !(coll_has(kind, COLL_VIEWS) && coll_has(kind, COLL_UNSIZED)),
         compared = !coll_has(kind, COLL_ONE_BUFFER) || k->plan->compare != PLAN_NOTHING;

    return cell->rule && cell->rules == k->prior && sized && compared;
}

/* Returns whether the order of the ranks decides the bits of an axis's results. */
static bool keeps_order(const struct plan_builder *k, int axis)
{
    return coll_has(axis % COLL_KINDS, COLL_REDUCES) &&
           (axis >= COLL_KINDS || k->config->number[SET_REDUCE_ORDER] == ORDER_FIXED);
}

static bool keeps_much(const struct plan_builder *k, const struct candidate *c)
{
    const struct alg *alg = hud_shm_algs[c->row];

    return alg->family->slot_bytes && alg->family->slot_bytes(c->param, k->plan->facts.ranks,
                                                              k->plan->max_bytes) > PLAN_OWN_WINDOW;
}

/* Excludes candidates that would keep too much memory. */
static void exclude(struct plan_builder *k)
{
    for (int i = 0; i < k->count; i++) {
        struct candidate *c = &k->candidate[i];
        c->fails = c->row >= 0 && keeps_much(k, c);
    }
}

/* Lists the candidates that may serve an axis, memory aside. */
static void list_axis(struct plan_builder *k, int axis)
{
    int kind = axis % COLL_KINDS;

    k->firsts = 0;
    for (int at = k->kind_at[kind]; at < k->kind_at[kind + 1]; at++) {
        const struct candidate *c = &k->candidate[k->of_kind[at]];
        if (!c->fails && c->row >= 0 && hud_plan_builder_serves(k, c, axis))
            k->first[k->firsts++] = k->of_kind[at];
    }
}

/* Returns whether a candidate combines the ranks of a reduction as a cell's first choice does. */
static bool same_bits(const struct plan_builder *k, const struct plan_cell *cell,
                      const struct candidate *c)
{
    const struct plan_entry *first = &k->plan->entry[cell->candidate[0]];

    return first->row >= 0 && hud_shm_algs[first->row]->ordered && hud_shm_algs[c->row]->ordered;
}

static bool has(const struct plan_cell *cell, int entry)
{
    bool found = false;

    for (int i = 0; i < cell->count; i++)
        found = found || cell->candidate[i] == entry;
    return found;
}

/* ---- memory ---- */

/* Returns whether the slots of the first choices keep their own windows, and at least three
 * quarters of each. */
static bool keeps_places(const struct plan *plan, const struct plan_slot *before, int firsts)
{
    bool keeps = true;

    for (int s = 0; s < firsts; s++) {
        const struct alg_place *a = &before[s].place, *b = &plan->slot[s].place;
        bool shares = a->user == 0 && b->user != 0;
        keeps = keeps && !shares && b->window_bytes >= a->window_bytes / 4 * 3;
    }
    return keeps;
}

/* Lays out a plan with a new slot.  before: its slots, of which `firsts` were laid out.  Returns
 * whether the slot fits, and the first choices keep their places. */
static bool lay_out(const struct plan_builder *k, const struct plan_slot *before, int firsts)
{
    return hud_plan_lay_out(k->config, k->plan) < 0 && keeps_places(k->plan, before, firsts) &&
           hud_plan_builder_check(k) < 0;
}

/* Adds a candidate to a cell.  Returns false if the plan has no room for its slot, or the cell for
 * another candidate. */
static bool try_candidate(struct plan_builder *k, struct plan_cell *cell, size_t bytes,
                          int candidate)
{
    struct plan *plan = k->plan;
    struct plan_slot before[PLAN_SLOTS];
    struct candidate *c = &k->candidate[candidate];
    int slots = plan->slots, entries = plan->entries;

    int entry = c->entry != 0 ? c->entry : hud_plan_builder_entry(plan, c);
    if (entry >= 0 && plan->entries == entries)
        c->entry = (uint8_t)entry;
    if (entry < 0 || has(cell, entry))
        return false;
    size_t total = plan->total_bytes;
    bool fits = true, moves = plan->slots > slots && !k->at_once;
    if (moves) {
        memcpy(before, plan->slot, sizeof before);
        fits = lay_out(k, before, slots);
    } else if (plan->slots > slots) {
        plan->slot[slots].place =
            alg_place_alone(hud_shm_algs[c->row], c->param, plan->facts.ranks, 0, plan->max_bytes);
    }
    if (fits && hud_candidate_accepts(c, bytes, &plan->slot[plan->entry[entry].slot].place,
                                      plan->facts.ranks)) {
        cell->candidate[cell->count++] = (uint8_t)entry;
        c->entry = (uint8_t)entry;
        plan_builder_keep_bytes(k, entry, bytes);
        return true;
    }
    c->fails = !fits;
    plan->slots = slots;
    plan->entries = entries;
    plan->total_bytes = total;
    if (moves)
        memcpy(plan->slot, before, sizeof before);
    return false;
}

/* Adds the slot in which ranks compare their sizes, like the first choice of a small allreduce.
 * Adds none if there is no room. */
static void add_comparison(struct plan_builder *k)
{
    struct plan *plan = k->plan;
    struct plan_slot before[PLAN_SLOTS];
    const struct plan_entry *like = plan_find(plan, COLL_ALLREDUCE, PLAN_COMPARED);
    int slots = plan->slots;
    size_t total = plan->total_bytes;

    if (like->slot < 0 || slots == PLAN_SLOTS || plan->entries == PLAN_ENTRIES)
        return;
    memcpy(before, plan->slot, sizeof before);
    plan->slot[slots] = (struct plan_slot){ .row = like->row, .compares = true };
    memcpy(plan->slot[slots].param, like->param, sizeof like->param);
    plan->slots++;
    if (lay_out(k, before, slots)) {
        plan->compare = plan->entries++;
        plan->entry[plan->compare] = *like;
        plan->entry[plan->compare].slot = (int16_t)slots;
        return;
    }
    plan->slots = slots;
    plan->total_bytes = total;
    memcpy(plan->slot, before, sizeof before);
}

struct others {
    int values, axis, class, max; /* values: the first candidate with a value of a list */
    bool same_bits;               /* only candidates that change no bits */
};

/* Adds the suitable candidates of from..to - 1 to a cell.  row: an algorithm, or -1 for all. */
static void fill(struct plan_builder *k, const struct others *o, int from, int to, int row)
{
    struct plan_cell *cell = &k->plan->cell[o->axis][o->class];
    size_t bytes = k->class_bytes[o->class];

    for (int n = 0; n < k->firsts && cell->count < o->max; n++) {
        int i = k->first[n];
        const struct candidate *c = &k->candidate[i];
        if (i >= from && i < to && (row < 0 || c->row == row) && !c->fails &&
            bytes >= c->min_bytes && bytes <= c->max_bytes &&
            (!o->same_bits || same_bits(k, cell, c)))
            try_candidate(k, cell, bytes, i);
    }
}

static void fill_all(struct plan_builder *k, const struct others *o)
{
    int first = k->plan->entry[k->plan->cell[o->axis][o->class].candidate[0]].row;

    fill(k, o, 0, o->values, -1);
    fill(k, o, o->values, k->count, first);
    fill(k, o, o->values, k->count, -1);
}

/* Adds the other candidates of a cell.  Candidates to try come first. */
static void add_to(struct plan_builder *k, struct others o)
{
    enum { ORDERED = 4 }; /* candidates at most, so that others have room */
    struct plan_cell *cell = &k->plan->cell[o.axis][o.class];
    bool reduces = coll_has(o.axis % COLL_KINDS, COLL_REDUCES),
         fixed = reduces && k->config->number[SET_REDUCE_ORDER] == ORDER_FIXED,
         same = keeps_order(k, o.axis) || (reduces && cell->candidate[0] == PLAN_MPI);

    o.same_bits = same;
    o.max = same && !fixed ? ORDERED : PLAN_CANDIDATES - 1;
    fill_all(k, &o);
    cell->tried = cell->count;
    o.same_bits = false;
    o.max = PLAN_CANDIDATES - 1;
    if (same && !fixed)
        fill_all(k, &o);
    if (!fixed && !has(cell, PLAN_MPI))
        cell->candidate[cell->count++] = PLAN_MPI;
    if (!reduces || k->config->number[SET_TRY_ALL] == SWITCH_ON)
        cell->tried = cell->count;
}

/* Returns the largest size up to which the same listed candidates cover as `bytes`. */
static size_t same_up_to(const struct plan_builder *k, size_t bytes)
{
    size_t most = SIZE_MAX;

    for (int n = 0; n < k->firsts; n++) {
        const struct candidate *c = &k->candidate[k->first[n]];
        if (c->min_bytes > bytes && c->min_bytes - 1 < most)
            most = c->min_bytes - 1;
        else if (c->max_bytes >= bytes && c->max_bytes < most)
            most = c->max_bytes;
    }
    return most;
}

/* Returns whether all candidates of a cell accept messages of a size. */
static bool all_accept(const struct plan_builder *k, const struct plan_cell *cell, size_t bytes)
{
    bool accept = true;

    for (int i = 0; i < cell->count && accept; i++)
        accept = hud_plan_builder_accepts(k->plan, &k->plan->entry[cell->candidate[i]], bytes);
    return accept;
}

/* Gives the other candidates of a cell to the classes above with the same first choice, up to the
 * largest size that all candidates accept, at most `same` bytes.  A set-up makes hundreds of cells,
 * and most are like the cell below.  Returns the last class with the candidates. */
static int copy_up(struct plan_builder *k, int axis, int class, size_t same)
{
    struct plan_cell *cell = k->plan->cell[axis];
    const struct plan_cell *from = &cell[class];
    int last = class;

    while (last + 1 < PLAN_CLASSES && k->class_bytes[last + 1] <= same &&
           is_open(k, axis, &cell[last + 1]) && cell[last + 1].candidate[0] == from->candidate[0])
        last++;
    while (last > class && !all_accept(k, from, k->class_bytes[last]))
        last--;
    for (int above = class + 1; above <= last; above++) {
        cell[above].count = from->count;
        cell[above].tried = from->tried;
        memcpy(cell[above].candidate, from->candidate, sizeof from->candidate);
    }
    for (int i = 0; i < from->count; i++)
        plan_builder_keep_bytes(k, from->candidate[i], k->class_bytes[last]);
    return last;
}

/* Adds the other candidates of an axis.  values: see struct others. */
static void add_to_axis(struct plan_builder *k, int axis, int values)
{
    list_axis(k, axis);
    for (int class = 0; class < PLAN_CLASSES; class ++)
        if (is_open(k, axis, &k->plan->cell[axis][class])) {
            add_to(k, (struct others){ .values = values, .axis = axis, .class = class });
            class = copy_up(k, axis, class, same_up_to(k, k->class_bytes[class]));
        }
}

/* Adds the other candidates of all axes.  values: see struct others. */
static void add_to_all(struct plan_builder *k, int values)
{
    exclude(k);
    for (int axis = 0; axis < PLAN_AXES; axis++)
        add_to_axis(k, axis, values);
}

/* Adds the other candidates as if each one had a slice of its own, and then lays their slots out
 * together.  Returns false, and takes everything back, if they do not all fit. */
static bool add_at_once(struct plan_builder *k, int values)
{
    struct plan *plan = k->plan;
    struct plan_builder_mark *mark = &k->mark;

    *mark = (struct plan_builder_mark){ plan->slots, plan->entries, plan->total_bytes };
    memcpy(mark->slot, plan->slot, sizeof mark->slot);
    memcpy(mark->max_bytes, k->max_bytes, sizeof mark->max_bytes);
    k->at_once = true;
    add_to_all(k, values);
    k->at_once = false;
    if (plan->slots == mark->slots || lay_out(k, mark->slot, mark->slots))
        return true;
    plan->slots = mark->slots;
    plan->entries = mark->entries;
    plan->total_bytes = mark->total_bytes;
    memcpy(plan->slot, mark->slot, sizeof plan->slot);
    memcpy(k->max_bytes, mark->max_bytes, sizeof k->max_bytes);
    for (int i = 0; i < k->count; i++)
        k->candidate[i].entry = k->candidate[i].entry < mark->entries ? k->candidate[i].entry : 0;
    hud_plan_builder_fill_cells(k);
    return false;
}

void hud_others_add(struct plan_builder *k)
{
    size_t max_bytes = k->plan->max_bytes;
    int values = hud_others_collect(k);

    k->plan->max_bytes = hud_others_bytes(k->plan->total_bytes, max_bytes);
    add_comparison(k);
    if (!add_at_once(k, values))
        add_to_all(k, values);
    k->plan->max_bytes = max_bytes;
}
