/* SPDX-License-Identifier: BSD-3-Clause */
/* slots.c - decides which candidates serve an axis, and which share a slot. */
#include "core/plan/plan_builder.h"

#include <string.h>

static bool same_shape(const struct alg *alg, const long *a, const long *b)
{
    for (int p = 0; alg_param_at(alg, p); p++)
        if (!alg_param_at(alg, p)->per_call && a[p] != b[p])
            return false;
    return true;
}

bool hud_plan_builder_serves(const struct plan_builder *k, const struct candidate *c, int axis)
{
    /* only reductions have axes from COLL_KINDS on */
    bool fixed = k->config->number[SET_REDUCE_ORDER] == ORDER_FIXED,
         ordered = plan_axis_in_order(axis) || fixed;

    if (c->barred ||
        (k->plan->facts.single_call.enabled && axis != k->plan->facts.single_call.axis) ||
        (c->rule && c->rule->reduction >= 0 && c->rule->reduction != axis / COLL_KINDS) ||
        c->kind != axis % COLL_KINDS || (axis >= COLL_KINDS && !coll_has(c->kind, COLL_REDUCES)))
        return false;
    return !ordered || !coll_has(c->kind, COLL_REDUCES) ||
           (c->row >= 0 ? hud_shm_algs[c->row]->ordered : !(fixed && c->rule));
}

bool hud_plan_builder_share(const struct plan_slot *slot, const struct candidate *c)
{
    const struct alg *a = hud_shm_algs[slot->row], *b = hud_shm_algs[c->row];

    return !slot->compares && a->family == b->family && same_shape(b, slot->param, c->param);
}

int hud_plan_builder_slot(struct plan *plan, const struct candidate *c)
{
    for (int s = 0; s < plan->slots; s++)
        if (hud_plan_builder_share(&plan->slot[s], c))
            return s;
    if (plan->slots == PLAN_SLOTS)
        return -1;
    plan->slot[plan->slots] = (struct plan_slot){ .row = c->row };
    memcpy(plan->slot[plan->slots].param, c->param, sizeof c->param);
    return plan->slots++;
}
