/* SPDX-License-Identifier: BSD-3-Clause */
/* room.c - what a plan does without, so that a slot that has found no room gets some. */
#include "core/choose/making.h"

#include <string.h>

/* All that would use that slot. */
static void bar(struct making *k, const struct plan_slot *slot)
{
    for (int i = 0; i < k->count; i++)
        if (k->candidate[i].row >= 0 && hud_making_share(slot, &k->candidate[i]))
            k->candidate[i].barred = true;
}

int hud_room_lacking(const struct making *k, bool reductions)
{
    int kinds = 0;

    for (int kind = 0; kind < COLL_KINDS; kind++) {
        bool covered = true;
        for (int e = k->plan->first[kind]; e < k->plan->first[kind + 1]; e++)
            covered = covered && k->winner[e] >= 0;
        kinds += !covered && (!reductions || coll_has(kind, COLL_REDUCES));
    }
    return kinds;
}

/* What covers collectives now can do without that slot, and now does. */
static bool give_up(struct making *k, const struct plan_slot *slot)
{
    int lacked = k->lean ? 0 : hud_room_lacking(k, false);
    bool before[PLAN_RULES];

    for (int i = 0; i < k->count; i++)
        before[i] = k->candidate[i].barred;
    bar(k, slot);
    hud_making_cut(k);
    if (hud_room_lacking(k, k->lean) <= lacked)
        return true;
    for (int i = 0; i < k->count; i++)
        k->candidate[i].barred = before[i];
    hud_making_cut(k);
    return false;
}

void hud_room_find(struct making *k, int without)
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
