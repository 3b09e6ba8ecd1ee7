/* SPDX-License-Identifier: BSD-3-Clause */
/* cells.c - the cells of a plan: chooses the candidate of each cell, makes its entry, and checks
 * that its slot is large enough. */
#include "core/plan/plan_builder.h"

#include <string.h>

void hud_plan_builder_set_bytes(struct plan_builder *k)
{
    const struct plan_single_call *only = &k->plan->facts.single_call;

    for (int class = 0; class < PLAN_CLASSES; class ++)
        k->class_bytes[class] = plan_class_bytes(class);
    if (only->enabled)
        k->class_bytes[plan_class(only->bytes)] = only->bytes;
}

static void list_firsts(struct plan_builder *k, int axis)
{
    int kind = axis % COLL_KINDS;

    k->firsts = 0;
    for (int i = k->kind_at[kind]; i < k->kind_at[kind + 1]; i++) {
        const struct candidate *c = &k->candidate[k->of_kind[i]];
        if (!c->other && hud_plan_builder_serves(k, c, axis))
            k->first[k->firsts++] = k->of_kind[i];
    }
}

/* Returns the axis's first candidate that covers a size, or -1.  Sets *until: larger sizes up to
 * there have the same result. */
static int cover(const struct plan_builder *k, size_t bytes, size_t *until)
{
    *until = SIZE_MAX;
    for (int i = 0; i < k->firsts; i++) {
        const struct candidate *c = &k->candidate[k->first[i]];
        size_t last = bytes < c->min_bytes ? c->min_bytes - 1 : c->max_bytes;
        if (bytes > c->max_bytes)
            continue;
        *until = last < *until ? last : *until;
        if (bytes >= c->min_bytes)
            return k->first[i];
    }
    return -1;
}

/* Chooses a candidate for each class of an axis. */
static void choose_on(struct plan_builder *k, int axis)
{
    size_t until = 0;
    int winner = -1;

    for (int class = 0; class < PLAN_CLASSES; class ++) {
        if (class == 0 || k->class_bytes[class] > until)
            winner = cover(k, k->class_bytes[class], &until);
        k->winner[axis][class] = (int16_t)winner;
    }
}

void hud_plan_builder_choose(struct plan_builder *k)
{
    memset(k->winner, -1, sizeof k->winner);
    for (int axis = 0; axis < PLAN_AXES; axis++) {
        if (axis >= COLL_KINDS && !coll_has(axis % COLL_KINDS, COLL_REDUCES))
            continue;
        list_firsts(k, axis);
        if (k->firsts != 0)
            choose_on(k, axis);
    }
}

int hud_plan_builder_entry(struct plan *plan, const struct candidate *c)
{
    int e = PLAN_FIRST_ENTRY;

    if (c->row < 0)
        return PLAN_MPI;
    while (e < plan->entries && (plan->entry[e].row != c->row ||
                                 memcmp(plan->entry[e].param, c->param, sizeof c->param) != 0))
        e++;
    if (e < plan->entries)
        return e;
    int slot = plan->entries < PLAN_ENTRIES ? hud_plan_builder_slot(plan, c) : -1;
    if (slot < 0)
        return -1;
    plan->entry[e] = (struct plan_entry){ .row = (int16_t)c->row, .slot = (int16_t)slot };
    memcpy(plan->entry[e].param, c->param, sizeof c->param);
    plan->entries++;
    return e;
}

bool hud_plan_builder_accepts(const struct plan *plan, const struct plan_entry *e, size_t bytes)
{
    if (e->slot < 0)
        return true;
    const struct coll call = { .bytes = bytes,
                               .param = e->param,
                               .place = &plan->slot[e->slot].place };
    return alg_accepts(hud_shm_algs[e->row], &call, plan->facts.ranks);
}

int hud_plan_builder_chosen(const struct plan_builder *k, int axis, int class)
{
    int winner = k->winner[axis][class];

    return winner >= 0 ? k->candidate[winner].entry : PLAN_NOTHING;
}

/* Gives a candidate its entry, and the entry its slot.  Returns false if the plan is full. */
static bool give_entry(struct plan_builder *k, struct candidate *c)
{
    int entry = hud_plan_builder_entry(k->plan, c);

    c->entry = (uint8_t)(entry >= 0 ? entry : PLAN_NOTHING);
    return entry >= 0;
}

/* Gives the winners of an axis's classes their entries.  Returns false if the plan is full. */
static bool give_to_axis(struct plan_builder *k, const int16_t winner[PLAN_CLASSES])
{
    bool whole = true;

    for (int class = 0; class < PLAN_CLASSES; class ++) {
        bool ends = class + 1 == PLAN_CLASSES || winner[class + 1] != winner[class];
        if (winner[class] < 0 || !ends)
            continue;
        struct candidate *c = &k->candidate[winner[class]];
        if (c->entry == 0)
            whole = give_entry(k, c) && whole;
        plan_builder_keep_bytes(k, c->entry, k->class_bytes[class]);
    }
    return whole;
}

bool hud_plan_builder_give_slots(struct plan_builder *k)
{
    struct plan *plan = k->plan;
    bool whole = true;

    plan->slots = 0;
    for (plan->entries = 0; plan->entries < PLAN_FIRST_ENTRY; plan->entries++)
        plan->entry[plan->entries] = (struct plan_entry){ .row = -1, .slot = -1 };
    memset(k->max_bytes, 0, sizeof k->max_bytes);
    for (int i = 0; i < k->count; i++)
        k->candidate[i].entry = 0;
    for (int axis = 0; axis < PLAN_AXES; axis++)
        whole = give_to_axis(k, k->winner[axis]) && whole;
    return whole;
}

void hud_plan_builder_fill_cells(struct plan_builder *k)
{
    for (int axis = 0; axis < PLAN_AXES; axis++)
        for (int class = 0; class < PLAN_CLASSES; class ++) {
            int winner = k->winner[axis][class];
            const struct candidate *c = winner >= 0 ? &k->candidate[winner] : NULL;
            k->plan->cell[axis][class] = (struct plan_cell){
                .rule = c ? c->rule : NULL,
                .rules = c ? c->rules : NULL,
                .count = 1,
                .tried = 1,
                .candidate = { (uint8_t)hud_plan_builder_chosen(k, axis, class) }
            };
        }
}

int hud_plan_builder_check(const struct plan_builder *k)
{
    const struct plan *plan = k->plan;

    /* an entry that accepts a size also accepts smaller ones */
    for (int e = PLAN_FIRST_ENTRY; e < plan->entries; e++)
        if (!hud_plan_builder_accepts(plan, &plan->entry[e], k->max_bytes[e]))
            return plan->entry[e].slot;
    return -1;
}
