/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * plan.c - from rules to a plan.
 *
 * 1. The candidates are the rules that match the team, in order, each with the largest message that
 *    its algorithm accepts (candidates.c).
 * 2. Each cell gets the first candidate that covers the largest size of its class.
 * 3. Candidates with a cell get slots, which layout.c places in a slice.
 *
 * If a slot does not fit, its candidates are barred, or those of another slot if only these have
 * substitutes (plan_evict.c).  If a slot is too small for the largest messages of its candidates,
 * other candidates serve those messages.  Then steps 2 and 3 are repeated.  A tuning file that has
 * more choices for one team than a plan holds is ignored, and the plan records that.
 *
 * Under HUDDLE_REDUCE_ORDER=fixed, a reduction without memory would be combined in the MPI's order.
 * So a plan that lacks memory for a reduction is made again as a lean plan.  Only reductions have
 * windows in it, and slots that reductions do not need are given up first.
 *
 * Candidates to try against the first choices get the memory that is left (others.c).
 */
#include "core/plan/plan_builder.h"

#include <string.h>

/* Limits the slot's candidates to the slot's size. */
static void shrink(struct plan_builder *k, const struct plan_slot *slot)
{
    for (int i = 0; i < k->count; i++) {
        struct candidate *c = &k->candidate[i];
        if (c->row >= 0 && hud_plan_builder_share(slot, c) &&
            !hud_candidate_limit(c, &slot->place, k->plan->facts.ranks))
            c->barred = true;
    }
}

static bool choose_and_give(struct plan_builder *k)
{
    hud_plan_builder_choose(k);
    return hud_plan_builder_give_slots(k);
}

/* Repeats the layout until every slot is large enough. */
static void settle(struct plan_builder *k)
{
    struct plan *plan = k->plan;
    int without = -1, small = -1; /* a slot that does not fit; a slot that is too small */

    hud_plan_builder_collect(k);
    do {
        if (without >= 0)
            hud_plan_evict(k, without);
        else if (small >= 0)
            shrink(k, &plan->slot[small]);
        if (!choose_and_give(k) && k->tuning) {
            hud_plan_builder_leave_tuning(k);
            hud_plan_builder_collect(k);
            choose_and_give(k);
        }
        without = hud_plan_lay_out(k->config, plan);
        small = without < 0 ? hud_plan_builder_check(k) : -1;
        k->cramped = k->cramped || without >= 0 || small >= 0;
    } while (without >= 0 || small >= 0);
}

void hud_plan_make_slots(struct planner *planner, const struct plan_facts *facts, size_t max_bytes,
                         bool windows, struct plan *plan)
{
    struct plan_builder *k = &planner->builder;

    plan->facts = *facts;
    plan->max_bytes = max_bytes;
    plan->windows = windows;
    plan->too_rich = false;
    k->config = planner->config;
    k->tuning = planner->tuning;
    k->prior = hud_planner_prior(planner);
    k->plan = plan;
    k->lean = k->cramped = false;
    hud_plan_builder_set_bytes(k);
    planner->made++;
    settle(k);
    if (k->config->number[SET_REDUCE_ORDER] == ORDER_FIXED && windows && k->cramped &&
        hud_plan_evict_lacking(k, true) > 0) {
        k->lean = true;
        settle(k);
    }
}

void hud_plan_make(struct planner *planner, const struct plan_facts *facts, size_t max_bytes,
                   bool windows, struct plan *plan)
{
    struct plan_builder *k = &planner->builder;

    memset(plan, 0, sizeof *plan);
    hud_plan_make_slots(planner, facts, max_bytes, windows, plan);
    hud_plan_builder_fill_cells(k);
    if (hud_others_wanted(k->config, windows) && !facts->single_call.enabled && !k->lean)
        hud_others_add(k);
}
