/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * plan_cache.c - recognizes teams of the same number of ranks that have the same plan.
 *
 * Two such teams have the same plan if the same rules match them.  Of all places that rules may ask
 * for, most numbers of ranks have only a few different sets of matching rules.  So before the
 * planner makes a plan only to find its size, it looks for an earlier team with the same set.
 *
 * Cost    a list of the rules for a number of ranks, once; a check of these rules, for each team
 * Proof   tests/unit/test_plan_memory.c: the bytes are those of all plans
 */
#include "core/plan/plan_builder.h"

#include <string.h>

enum { WORD_BITS = 64 };

static void list_rules(struct plan_cache *a, const struct rules *rules,
                       const struct plan_facts *facts)
{
    int kind = facts->single_call.enabled ? facts->single_call.axis % COLL_KINDS : -1;

    for (int i = 0; rules && i < rules->count; i++) {
        const struct rule *r = &rules->rule[i];
        if (facts->ranks < r->min_ranks || facts->ranks > r->max_ranks ||
            (kind >= 0 && r->kind != kind))
            continue;
        a->full = a->full || a->count == PLAN_RULES;
        if (!a->full)
            a->rule[a->count++] = r;
    }
}

void hud_plan_cache_begin(struct plan_cache *a, const struct rules *tuning,
                          const struct rules *prior, const struct plan_facts *facts)
{
    a->count = a->kinds = 0;
    a->full = false;
    list_rules(a, tuning, facts);
    list_rules(a, prior, facts);
}

bool hud_plan_cache_seen(struct plan_cache *a, const struct plan_facts *facts)
{
    struct plan_cache_kind kind = { .direct = facts->direct };

    if (a->full)
        return false;
    for (int i = 0; i < a->count; i++)
        if (!hud_rule_misfit_team(a->rule[i], facts))
            kind.serves[i / WORD_BITS] |= UINT64_C(1) << i % WORD_BITS;
    for (int i = 0; i < a->kinds; i++)
        if (memcmp(&a->kind[i], &kind, sizeof kind) == 0)
            return true;
    if (a->kinds < PLAN_CACHE_KINDS)
        a->kind[a->kinds++] = kind;
    return false;
}
