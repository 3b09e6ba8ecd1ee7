/* SPDX-License-Identifier: BSD-3-Clause */
/* cells.c - the cells of a plan: chooses the candidate of each cell, makes its entry, and checks
 * that its slot is large enough. */
#include "core/plan/plan_builder.h"

#include <string.h>

size_t hud_plan_builder_bytes(const struct plan *plan, int class)
{
    const struct plan_single_call *only = &plan->facts.single_call;

    return only->enabled && class == plan_class(only->bytes) ? only->bytes
                                                             : plan_class_bytes(class);
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

/* Returns the axis's first candidate that covers a size, or -1. */
static int cover(const struct plan_builder *k, size_t bytes)
{
    for (int i = 0; i < k->firsts; i++) {
        const struct candidate *c = &k->candidate[k->first[i]];
        if (bytes >= c->min_bytes && bytes <= c->max_bytes)
            return k->first[i];
    }
    return -1;
}

void hud_plan_builder_choose(struct plan_builder *k)
{
    for (int axis = 0; axis < PLAN_AXES; axis++) {
        list_firsts(k, axis);
        for (int class = 0; class < PLAN_CLASSES; class ++)
            k->winner[axis][class] = (int16_t)cover(k, hud_plan_builder_bytes(k->plan, class));
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

void hud_plan_builder_list_bytes(const struct plan *plan, size_t *max_bytes)
{
    memset(max_bytes, 0, PLAN_ENTRIES * sizeof *max_bytes);
    for (int axis = 0; axis < PLAN_AXES; axis++)
        for (int class = 0; class < PLAN_CLASSES; class ++) {
            const struct plan_cell *cell = &plan->cell[axis][class];
            size_t bytes = hud_plan_builder_bytes(plan, class);
            for (int i = 0; i < cell->count; i++) {
                size_t *max = &max_bytes[cell->candidate[i]];
                *max = bytes > *max ? bytes : *max;
            }
        }
}

/* Returns whether all entries accept their largest messages.  An entry that accepts a size also
 * accepts smaller ones, so each can be asked for 0 bytes. */
bool hud_plan_builder_all_accept(const struct plan *plan, const size_t *max_bytes)
{
    bool accept = true;

    for (int e = PLAN_FIRST_ENTRY; e < plan->entries && accept; e++)
        accept = hud_plan_builder_accepts(plan, &plan->entry[e], max_bytes[e]);
    return accept;
}

int hud_plan_builder_check(const struct plan *plan)
{
    size_t max_bytes[PLAN_ENTRIES];

    hud_plan_builder_list_bytes(plan, max_bytes);
    if (hud_plan_builder_all_accept(plan, max_bytes))
        return -1;
    for (int axis = 0; axis < PLAN_AXES; axis++)
        for (int class = 0; class < PLAN_CLASSES; class ++) {
            const struct plan_cell *cell = &plan->cell[axis][class];
            for (int i = 0; i < cell->count; i++) {
                const struct plan_entry *e = &plan->entry[cell->candidate[i]];
                if (!hud_plan_builder_accepts(plan, e, hud_plan_builder_bytes(plan, class)))
                    return e->slot;
            }
        }
    return -1;
}
