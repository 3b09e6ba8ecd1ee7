/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * plan.c - from rules to a plan.
 *
 * 1. Candidates: rules that fit the team, in order, each with the largest message that its
 * algorithm takes.
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

void hud_plan_params(const struct config *config, const struct rule *rule, int row,
                     long param[ALG_PARAMS])
{
    for (int p = 0; p < ALG_PARAMS; p++)
        param[p] = rule && rule->given[p] && !config->given[row][p] ? rule->param[p]
                                                                    : config->param[row][p];
}

static bool same_shape(const struct alg *alg, const long *a, const long *b)
{
    for (int p = 0; alg_param_at(alg, p); p++)
        if (!alg_param_at(alg, p)->per_call && a[p] != b[p])
            return false;
    return true;
}

static bool takes(const struct candidate *c, size_t bytes, const struct alg_place *place, int ranks)
{
    const struct coll call = { .bytes = bytes, .param = c->param, .place = place };

    return alg_accepts(hud_shm_algs[c->row], &call, ranks);
}

/* The largest message up to max_bytes that it takes, by halving; false: not even the minimum. */
static bool limit(struct candidate *c, const struct alg_place *place, int ranks)
{
    size_t good = c->min_bytes, bad = c->max_bytes;

    if (!takes(c, good, place, ranks))
        return false;
    if (takes(c, bad, place, ranks))
        return true;
    while (bad - good > 1) {
        size_t middle = good + (bad - good) / 2;
        if (takes(c, middle, place, ranks))
            good = middle;
        else
            bad = middle;
    }
    c->max_bytes = good;
    return true;
}

/* Whether the team makes calls of that collective. */
static bool asks(const struct making *k, int kind)
{
    const struct plan_only *only = &k->plan->facts.only;

    return !only->is || kind == only->axis % COLL_KINDS;
}

/* Calls that are all alike need one candidate, for their size.  A rank of a wrong program may ask
 * for less than it gets: it finds that out in the same algorithm, as in a call of any size. */
static bool narrow(const struct making *k, struct candidate *c)
{
    const struct plan_only *only = &k->plan->facts.only;

    if (!only->is)
        return true;
    if (only->bytes < c->min_bytes || only->bytes > c->max_bytes)
        return false;
    c->min_bytes = 0;
    c->max_bytes = only->bytes;
    return true;
}

static void add(struct making *k, struct candidate c)
{
    const struct plan *plan = k->plan;

    if (k->count == PLAN_RULES || plan_lacks_direct(c.row, &plan->facts))
        return;
    if (c.row >= 0) {
        const struct alg *alg = hud_shm_algs[c.row];
        hud_plan_params(k->config, c.rule, c.row, c.param);
        const struct alg_place place =
            alg_place_alone(alg, c.param, plan->facts.ranks, 0, plan->max_bytes);
        if (alg_holds_data(alg) && (!plan->windows || (k->lean && !coll_has(c.kind, COLL_REDUCES))))
            return;
        if (!limit(&c, &place, plan->facts.ranks))
            return;
    }
    if (!narrow(k, &c))
        return;
    k->candidate[k->count++] = c;
}

static bool adapts(const struct making *k)
{
    return k->config->number[SET_ADAPT] == SWITCH_ON && k->plan->windows && !k->plan->facts.only.is;
}

/* False: one that fits finds no room. */
static bool add_rules(struct making *k, const struct rules *rules, int room)
{
    for (int i = 0; rules && i < rules->count; i++) {
        const struct rule *r = &rules->rule[i];
        if (!asks(k, r->kind))
            continue;
        size_t min = hud_rule_min_bytes(r, &k->plan->facts);
        if (hud_rule_misfit(r, &k->plan->facts, min) ||
            hud_config_forced(k->config, r->kind) != FORCED_NONE || (r->second && !adapts(k)))
            continue;
        if (k->count == room)
            return false;
        add(k, (struct candidate){ .rule = r,
                                   .rules = rules,
                                   .kind = r->kind,
                                   .row = r->row,
                                   .min_bytes = min,
                                   .max_bytes = r->max_bytes });
    }
    return true;
}

static void leave_tuning(struct making *k)
{
    k->tuning = NULL;
    k->plan->too_rich = true;
}

static void sort_by_kind(struct making *k)
{
    int at = 0;

    for (int kind = 0; kind < COLL_KINDS; kind++) {
        k->kind_at[kind] = at;
        for (int i = 0; i < k->count; i++)
            if (k->candidate[i].kind == kind)
                k->of_kind[at++] = i;
    }
    k->kind_at[COLL_KINDS] = at;
}

static void collect(struct making *k)
{
    const struct rules *builtin = hud_rules_builtin();

    k->count = 0;
    for (int kind = 0; kind < COLL_KINDS; kind++) {
        int forced = hud_config_forced(k->config, kind);
        if (forced != FORCED_NONE && asks(k, kind))
            add(k, (struct candidate){
                       .kind = kind, .row = forced >= 0 ? forced : -1, .max_bytes = SIZE_MAX });
    }
    int before = k->count;
    if (!add_rules(k, k->tuning, PLAN_RULES - (builtin ? builtin->count : 0))) {
        k->count = before;
        leave_tuning(k);
    }
    add_rules(k, builtin, PLAN_RULES);
    sort_by_kind(k);
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
        if (c.row >= 0 &&
            !takes(&c, entry->max_bytes, &plan->slot[entry->slot].place, plan->facts.ranks))
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
            !limit(c, &slot->place, k->plan->facts.ranks))
            c->barred = true;
    }
}

/* Until what is laid out serves what it is to serve. */
static void settle(struct making *k)
{
    struct plan *plan = k->plan;
    int without = -1, small = -1; /* slots that have no room, or less than their calls need */

    collect(k);
    do {
        if (without >= 0)
            hud_room_find(k, without);
        else if (small >= 0)
            shrink(k, &plan->slot[small]);
        bool whole = hud_making_cut(k);
        whole = give_slots(k) && whole;
        if (!whole && k->tuning) {
            leave_tuning(k);
            collect(k);
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
    if (adapts(k) && !k->lean)
        settle_seconds(k);
}
