/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * plan.c - from rules to a plan.
 *
 * 1. Candidates: rules that fit the team, in order, each with the largest message that its
 * algorithm takes (candidates.c).
 * 2. The sizes at which a candidate begins or ends cut the axis of sizes; each piece goes to the
 * first candidate that covers it.
 * 3. Candidates that got a piece get slots, which layout.c places in a slice.
 *
 * A slot that finds no room bars its candidates, or those of another slot, where only these have
 * substitutes.  One that is too small for its candidates' largest messages leaves those to others.
 * Then the last two steps are done again.  A tuning file that has more
 * choices for one team than a plan holds is ignored, and the plan records that.
 *
 * Under HUDDLE_REDUCE_ORDER=fixed a reduction for which memory is short would get the MPI's order.
 * So such a plan is made anew, and lean: windows serve reductions only, and the first to go are
 * those that reductions can do without.
 *
 * With HUDDLE_ADAPT second candidates get what memory is left (second.c).
 */
#include "core/choose/making.h"

#include <string.h>

static bool same_shape(const struct alg *alg, const long *a, const long *b)
{
    for (int p = 0; alg_param_at(alg, p); p++)
        if (!alg_param_at(alg, p)->per_call && a[p] != b[p])
            return false;
    return true;
}

/* Only reductions have an axis of those that must take the ranks in order. */
bool hud_making_serves(const struct making *k, const struct candidate *c, int axis)
{
    bool ordered = axis >= COLL_KINDS || k->config->number[SET_REDUCE_ORDER] == ORDER_FIXED;

    if (c->barred || (k->plan->facts.only.is && axis != k->plan->facts.only.axis) ||
        c->kind != axis % COLL_KINDS || (axis >= COLL_KINDS && !coll_has(c->kind, COLL_REDUCES)))
        return false;
    return !ordered || !coll_has(c->kind, COLL_REDUCES) || c->row < 0 ||
           hud_shm_algs[c->row]->ordered;
}

static void list_firsts(struct making *k, int axis)
{
    int kind = axis % COLL_KINDS;

    k->firsts = 0;
    for (int i = k->kind_at[kind]; i < k->kind_at[kind + 1]; i++) {
        const struct candidate *c = &k->candidate[k->of_kind[i]];
        if (!(c->rule && c->rule->second) && hud_making_serves(k, c, axis))
            k->first[k->firsts++] = k->of_kind[i];
    }
}

/* The axis's first candidate that covers a size, and up to which size that stays so; -1: none. */
static int cover(const struct making *k, size_t bytes, size_t *max_bytes)
{
    *max_bytes = SIZE_MAX;
    for (int i = 0; i < k->firsts; i++) {
        const struct candidate *c = &k->candidate[k->first[i]];
        if (bytes > c->max_bytes)
            continue;
        if (bytes >= c->min_bytes) {
            *max_bytes = c->max_bytes < *max_bytes ? c->max_bytes : *max_bytes;
            return k->first[i];
        }
        *max_bytes = c->min_bytes - 1 < *max_bytes ? c->min_bytes - 1 : *max_bytes;
    }
    return -1;
}

static void write_entry(struct making *k, int at, int winner, int second, size_t max_bytes)
{
    struct plan_entry *e = &k->plan->entry[at];
    const struct candidate *c = winner >= 0 ? &k->candidate[winner] : NULL;

    k->winner[at] = winner;
    k->second[at] = second;
    *e = (struct plan_entry){ .max_bytes = max_bytes, .row = -1, .slot = -1 };
    if (c) {
        e->row = (int16_t)c->row;
        e->rule = c->rule;
        e->rules = c->rules;
        memcpy(e->param, c->param, sizeof e->param);
    }
}

/* Cuts the axis of sizes.  False: into more pieces than a plan holds; the rest falls back to the
 * MPI. */
bool hud_making_cut(struct making *k)
{
    struct plan *plan = k->plan;
    bool whole = true;
    int at = 0;

    for (int axis = 0; axis < PLAN_AXES; axis++) {
        size_t bytes = 0, max;
        int room = PLAN_ENTRIES -
                   (PLAN_AXES -
                    axis); /* for the last piece of this axis, so that the others find one too */

        plan->first[axis] = at;
        list_firsts(k, axis);
        for (bool more = true; more; bytes = max + 1) {
            int winner = cover(k, bytes, &max);
            int second = hud_second_find(k, axis, bytes, winner, &max);
            if (at >= room && max != SIZE_MAX) {
                winner = second = -1;
                max = SIZE_MAX;
                whole = false;
            }
            more = max != SIZE_MAX;
            if (at > plan->first[axis] && winner == k->winner[at - 1] &&
                second == k->second[at - 1])
                plan->entry[at - 1].max_bytes = max;
            else
                write_entry(k, at++, winner, second, max);
        }
    }
    plan->first[PLAN_AXES] = plan->entries = at;
    return whole;
}

bool hud_making_share(const struct plan_slot *slot, const struct candidate *c)
{
    const struct alg *a = hud_shm_algs[slot->row], *b = hud_shm_algs[c->row];

    return a->family == b->family && same_shape(b, slot->param, c->param);
}

int hud_making_slot(struct plan *plan, const struct candidate *c)
{
    for (int s = 0; s < plan->slots; s++)
        if (hud_making_share(&plan->slot[s], c))
            return s;
    if (plan->slots == PLAN_SLOTS)
        return -1;
    plan->slot[plan->slots] = (struct plan_slot){ .row = c->row };
    memcpy(plan->slot[plan->slots].param, c->param, sizeof c->param);
    return plan->slots++;
}

/* False: more slots than a plan holds; some entries fall back to the MPI. */
static bool give_slots(struct making *k)
{
    struct plan *plan = k->plan;
    bool whole = true;

    plan->slots = 0;
    for (int e = 0; e < plan->first[PLAN_AXES]; e++) {
        const struct candidate *c = k->winner[e] >= 0 ? &k->candidate[k->winner[e]] : NULL;
        bool needed = c && c->row >= 0;
        plan->entry[e].slot = needed ? hud_making_slot(plan, c) : -1;
        whole = whole && (!needed || plan->entry[e].slot >= 0);
    }
    return whole;
}

/* Returns -1, or the slot that, as laid out, does not take the largest message of one of its
 * entries. */
static int check(const struct plan *plan)
{
    for (int e = 0; e < plan->entries; e++) {
        const struct plan_entry *entry = &plan->entry[e];
        struct candidate c = { .row = entry->slot >= 0 ? entry->row : -1 };
        memcpy(c.param, entry->param, sizeof c.param);
        if (c.row >= 0 && !hud_candidate_takes(&c, entry->max_bytes, &plan->slot[entry->slot].place,
                                               plan->facts.ranks))
            return entry->slot;
    }
    return -1;
}

/* All that would use that slot take what it, as laid out, can hold. */
static void shrink(struct making *k, const struct plan_slot *slot)
{
    for (int i = 0; i < k->count; i++) {
        struct candidate *c = &k->candidate[i];
        if (c->row >= 0 && hud_making_share(slot, c) &&
            !hud_candidate_limit(c, &slot->place, k->plan->facts.ranks))
            c->barred = true;
    }
}

/* Until what is laid out serves what it is to serve. */
static void settle(struct making *k)
{
    struct plan *plan = k->plan;
    int without = -1, small = -1; /* slots that have no room, or less than their calls need */

    hud_making_collect(k);
    do {
        if (without >= 0)
            hud_room_find(k, without);
        else if (small >= 0)
            shrink(k, &plan->slot[small]);
        bool whole = hud_making_cut(k);
        whole = give_slots(k) && whole;
        if (!whole && k->tuning) {
            hud_making_leave_tuning(k);
            hud_making_collect(k);
            hud_making_cut(k);
            give_slots(k);
        }
        without = hud_plan_lay_out(k->config, plan);
        small = without < 0 ? check(plan) : -1;
        k->cramped = k->cramped || without >= 0 || small >= 0;
    } while (without >= 0 || small >= 0);
}

/* Second candidates, as many as there is room for: without any, the plan is what it was. */
static void settle_seconds(struct making *k)
{
    struct plan *plan = k->plan;
    int failing, firsts;
    bool whole;

    k->seconds = true;
    do {
        whole = hud_making_cut(k);
        whole = give_slots(k) && whole;
        firsts = plan->slots;
        whole = hud_second_add(k) && whole;
        failing = hud_plan_lay_out(k->config, plan);
        failing = failing < 0 ? check(plan) : failing;
    } while ((!whole || failing >= 0) && hud_second_drop(k, whole ? failing : -1, firsts));
}

void hud_plan_make(struct planner *planner, const struct plan_facts *facts, size_t max_bytes,
                   bool windows, struct plan *plan)
{
    struct making *k = &planner->making;

    memset(plan, 0, sizeof *plan);
    plan->facts = *facts;
    plan->max_bytes = max_bytes;
    plan->windows = windows;
    k->config = planner->config;
    k->tuning = planner->tuning;
    k->plan = plan;
    k->lean = k->cramped = k->seconds = false;
    planner->made++;
    settle(k);
    if (k->config->number[SET_REDUCE_ORDER] == ORDER_FIXED && windows && k->cramped &&
        hud_room_lacking(k, true) > 0) {
        k->lean = true;
        settle(k);
    }
    if (hud_making_adapts(k) && !k->lean)
        settle_seconds(k);
}
