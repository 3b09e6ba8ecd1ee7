/* SPDX-License-Identifier: BSD-3-Clause */
/* plan_evict.c - chooses the slot that a plan gives up, if a slot does not fit. */
#include "core/plan/plan_builder.h"

#include <string.h>

/* Bars all candidates that would use a slot. */
static void bar(struct plan_builder *k, const struct plan_slot *slot)
{
    for (int i = 0; i < k->count; i++)
        if (k->candidate[i].row >= 0 && hud_plan_builder_share(slot, &k->candidate[i]))
            k->candidate[i].barred = true;
}

int hud_plan_evict_lacking(const struct plan_builder *k, bool reductions)
{
    int kinds = 0;

    for (int kind = 0; kind < COLL_KINDS; kind++) {
        bool covered = true;
        for (int class = 0; class < PLAN_CLASSES; class ++)
            covered = covered && k->winner[kind][class] >= 0;
        kinds += !covered && (!reductions || coll_has(kind, COLL_REDUCES));
    }
    return kinds;
}

/* Gives up a slot, unless a collective would then have sizes that no candidate covers.  Returns
 * whether the slot was given up. */
static bool give_up(struct plan_builder *k, const struct plan_slot *slot)
{
    int lacked = k->lean ? 0 : hud_plan_evict_lacking(k, false);
    bool before[PLAN_RULES];

    for (int i = 0; i < k->count; i++)
        before[i] = k->candidate[i].barred;
    bar(k, slot);
    hud_plan_builder_choose(k);
    if (hud_plan_evict_lacking(k, k->lean) <= lacked)
        return true;
    for (int i = 0; i < k->count; i++)
        k->candidate[i].barred = before[i];
    hud_plan_builder_choose(k);
    return false;
}

void hud_plan_evict(struct plan_builder *k, int without)
{
    const struct plan *plan = k->plan;

    for (int i = 0; k->lean && i < 2 * plan->slots; i++) {
        const struct plan_slot *slot = &plan->slot[i % plan->slots];
        if (alg_holds_data(hud_shm_algs[slot->row]) == (i < plan->slots) && give_up(k, slot))
            return;
    }
    if (!k->lean && give_up(k, &plan->slot[without]))
        return;
    for (int s = plan->slots - 1; !k->lean && s >= 0; s--)
        if (alg_holds_data(hud_shm_algs[plan->slot[s].row]) && give_up(k, &plan->slot[s]))
            return;
    bar(k, &plan->slot[without]);
}
