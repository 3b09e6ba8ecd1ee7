/* SPDX-License-Identifier: BSD-3-Clause */
/* lack.c - why an algorithm that a setting or a rule names does not serve. */
#include "core/choose/plan.h"

#include <stdio.h>
#include <string.h>

/* Had it all the memory that it wants. */
static bool would_take(const struct alg *alg, const long *param, int ranks, size_t bytes)
{
    const struct alg_place place = alg_place_alone(alg, param, ranks, 0, SIZE_MAX / 2);
    const struct coll call = { .bytes = bytes, .param = param, .place = &place };

    return alg_accepts(alg, &call, ranks);
}

enum plan_lack hud_plan_lack(const struct config *config, const struct plan *plan,
                             const struct rule *rule, int row, int axis, size_t bytes)
{
    bool ordered = axis >= COLL_KINDS || config->number[SET_REDUCE_ORDER] == ORDER_FIXED;
    long param[ALG_PARAMS];

    if (row < 0)
        return LACK_CALL;
    if (plan_lacks_direct(row, &plan->facts))
        return LACK_DIRECT;
    if (ordered && coll_has(axis % COLL_KINDS, COLL_REDUCES) && !hud_shm_algs[row]->ordered)
        return LACK_ORDER;
    hud_plan_params(config, rule, row, param);
    return would_take(hud_shm_algs[row], param, plan->facts.ranks, bytes) ? LACK_MEMORY : LACK_CALL;
}

void hud_plan_lack_text(const struct config *config, const struct plan *plan, enum plan_lack lack,
                        char text[LACK_TEXT])
{
    int limit = hud_plan_limit(config, plan);

    if (lack == LACK_DIRECT)
        snprintf(text, LACK_TEXT,
                 "the ranks cannot reach each other's memory (HUDDLE_CMA=%.8s, HUDDLE_XPMEM=%.8s)",
                 config->text[SET_CMA], config->text[SET_XPMEM]);
    else if (lack == LACK_MEMORY && strcmp(config->text[limit], "auto") == 0)
        snprintf(text, LACK_TEXT, "memory has no room for it (set %s to more than auto takes)",
                 hud_settings(NULL)[limit].name);
    else if (lack == LACK_MEMORY)
        snprintf(text, LACK_TEXT, "memory has no room for it (raise %s=%.24s)",
                 hud_settings(NULL)[limit].name, config->text[limit]);
    else
        snprintf(text, LACK_TEXT, "%s",
                 lack == LACK_ORDER ? "it does not combine the ranks in their order"
                                    : "it does not support this call");
}
