/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * second.c - second candidates of a plan, which its teams try against the first ones
 * (HUDDLE_ADAPT, core/team/adapt.h).
 *
 * The second candidate of a call is the next rule that matches it, in the order in which rules are
 * asked: the tuning file, then the built-in table.  Rows with `second = true` are there for nothing
 * else.  It differs from the first in its algorithm or in a parameter.  A fallback row, which is
 * there because memory may be short, counts only with another algorithm.  What reductions need of
 * the ranks' order binds both candidates alike.  Of broadcasts it must match all sizes of the first
 * one's piece: a truncation is found where both its sizes are of one piece, so there shall be no
 * more pieces.
 *
 * A plan is first made without second candidates.  They get the memory that is left: one that finds
 * none is dropped, and no first candidate is.  Their windows are the team's, used in turn, so that
 * they take little from the others; one that keeps more than PLAN_OWN_WINDOW of data among its
 * lines is none.
 */
#include "core/choose/making.h"

#include <string.h>

static bool differ(const struct candidate *a, const struct candidate *b)
{
    return a->row != b->row ||
           (!(b->rule && b->rule->fallback) && memcmp(a->param, b->param, sizeof a->param) != 0);
}

/* Data among its lines would take a part of the lease for good. */
static bool wants_much(const struct candidate *c, const struct plan *plan)
{
    const struct alg *alg = hud_shm_algs[c->row];

    return alg->family->slot_bytes &&
           alg->family->slot_bytes(c->param, plan->facts.ranks, plan->max_bytes) > PLAN_OWN_WINDOW;
}

/* All but its sizes fit. */
static bool fits(const struct making *k, int axis, int candidate, int winner)
{
    const struct candidate *c = &k->candidate[candidate];

    return candidate != winner && !c->alone && c->row >= 0 && hud_making_serves(k, c, axis) &&
           differ(&k->candidate[winner], c) && !wants_much(c, k->plan);
}

int hud_second_find(const struct making *k, int axis, size_t bytes, int winner, size_t *max_bytes)
{
    const struct candidate *first = winner >= 0 ? &k->candidate[winner] : NULL;
    bool whole = first && coll_has(first->kind, COLL_ONE_BUFFER);

    if (!k->seconds || !first || !first->rule || first->row < 0 ||
        coll_has(first->kind, COLL_VIEWS))
        return -1;
    for (int i = 0; i < k->count; i++) {
        const struct candidate *c = &k->candidate[i];
        if (!fits(k, axis, i, winner) || bytes > c->max_bytes ||
            (whole && (bytes < c->min_bytes || *max_bytes > c->max_bytes)))
            continue;
        if (bytes >= c->min_bytes) {
            *max_bytes = c->max_bytes < *max_bytes ? c->max_bytes : *max_bytes;
            return i;
        }
        *max_bytes = c->min_bytes - 1 < *max_bytes ? c->min_bytes - 1 : *max_bytes;
    }
    return -1;
}

bool hud_second_add(struct making *k)
{
    struct plan *plan = k->plan;

    plan->entries = plan->first[PLAN_AXES];
    for (int e = 0; e < plan->first[PLAN_AXES]; e++) {
        if (k->second[e] < 0)
            continue;
        const struct candidate *c = &k->candidate[k->second[e]];
        int slot = plan->entries < PLAN_ENTRIES ? hud_making_slot(plan, c) : -1;
        if (slot < 0)
            return false;
        struct plan_entry *entry = &plan->entry[plan->entries];
        *entry = (struct plan_entry){ .max_bytes = plan->entry[e].max_bytes,
                                      .row = (int16_t)c->row,
                                      .slot = slot,
                                      .rule = c->rule,
                                      .rules = c->rules };
        memcpy(entry->param, c->param, sizeof entry->param);
        plan->entry[e].second = (int16_t)plan->entries++;
    }
    return true;
}

static bool is_second(const struct making *k, int candidate)
{
    bool is = false;

    for (int e = 0; e < k->plan->first[PLAN_AXES]; e++)
        is = is || k->second[e] == candidate;
    return is;
}

/* No candidate that would use that slot, NULL: any, is a second one from now on.  False: none was.
 */
static bool drop(struct making *k, const struct plan_slot *slot)
{
    bool dropped = false;

    for (int i = 0; i < k->count; i++) {
        struct candidate *c = &k->candidate[i];
        if (c->row < 0 || (slot && !hud_making_share(slot, c)))
            continue;
        dropped = dropped || is_second(k, i);
        c->alone = true;
    }
    return dropped;
}

bool hud_second_drop(struct making *k, int slot, int firsts)
{
    const struct plan *plan = k->plan;

    return (slot >= 0 && drop(k, &plan->slot[slot])) ||
           (slot >= 0 && plan->slots > firsts && drop(k, &plan->slot[plan->slots - 1])) ||
           drop(k, NULL);
}
