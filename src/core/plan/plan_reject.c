/* SPDX-License-Identifier: BSD-3-Clause */
/* plan_reject.c - why an algorithm that a setting or a rule names does not serve. */
#include "core/plan/plan.h"

#include <stdio.h>
#include <string.h>

/* Returns whether an algorithm would serve the call with unlimited memory. */
static bool would_take(const struct alg *alg, const long *param, int ranks, size_t bytes)
{
    const struct alg_place place = alg_place_alone(alg, param, ranks, 0, SIZE_MAX / 2);
    const struct coll call = { .bytes = bytes, .param = param, .place = &place };

    return alg_accepts(alg, &call, ranks);
}

enum plan_reject hud_plan_reject(const struct config *config, const struct plan *plan,
                                 const struct rule *rule, int row, int axis, size_t bytes)
{
    bool fixed = config->number[SET_REDUCE_ORDER] == ORDER_FIXED,
         ordered = plan_axis_in_order(axis) || fixed,
         reduces = coll_has(axis % COLL_KINDS, COLL_REDUCES);
    long param[ALG_PARAMS];

    if (row < 0)
        return fixed && reduces ? REJECT_ORDER : REJECT_CALL;
    if (plan_lacks_direct(row, &plan->facts))
        return REJECT_DIRECT;
    if (ordered && reduces && !hud_shm_algs[row]->ordered)
        return REJECT_ORDER;
    hud_plan_params(config, rule, row, param);
    return would_take(hud_shm_algs[row], param, plan->facts.ranks, bytes) ? REJECT_MEMORY
                                                                          : REJECT_CALL;
}

void hud_plan_reject_text(const struct config *config, const struct plan *plan,
                          enum plan_reject lack, char text[REJECT_TEXT])
{
    int limit = hud_plan_limit(config, plan);

    if (lack == REJECT_DIRECT)
        snprintf(text, REJECT_TEXT,
                 "the ranks cannot reach each other's memory (HUDDLE_CMA=%.8s, HUDDLE_XPMEM=%.8s)",
                 config->text[SET_CMA], config->text[SET_XPMEM]);
    else if (lack == REJECT_MEMORY && strcmp(config->text[limit], "auto") == 0)
        snprintf(text, REJECT_TEXT, "memory has no room for it (set %s to more than auto takes)",
                 hud_settings(NULL)[limit].name);
    else if (lack == REJECT_MEMORY)
        snprintf(text, REJECT_TEXT, "memory has no room for it (raise %s=%.24s)",
                 hud_settings(NULL)[limit].name, config->text[limit]);
    else
        snprintf(text, REJECT_TEXT, "%s",
                 lack == REJECT_ORDER ? "it does not combine the ranks in their order"
                                      : "it does not support this call");
}
