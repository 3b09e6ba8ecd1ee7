/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * alike.c - teams of as many ranks that have the same plan.
 *
 * Plans of teams differ by where the ranks are, in so far as rules do.  Of the places that rules
 * may ask for, most teams tell only a few apart.  So before the planner makes a plan only to see
 * how many bytes it needs, it looks whether the same rules served one before.
 *
 * Cost    a list of the rules for so many ranks, once; per team, each of these rules is asked
 * Proof   tests/unit/test_plan_memory.c: the bytes are those of all plans
 */
#include "core/choose/making.h"

#include <string.h>

enum { WORD_BITS = 64 };

static void list_rules(struct alike *a, const struct rules *rules, const struct plan_facts *facts)
{
    int kind = facts->only.is ? facts->only.axis % COLL_KINDS : -1;

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

void hud_alike_begin(struct alike *a, const struct rules *tuning, const struct plan_facts *facts)
{
    a->count = a->kinds = 0;
    a->full = false;
    list_rules(a, tuning, facts);
    list_rules(a, hud_rules_builtin(), facts);
}

bool hud_alike_seen(struct alike *a, const struct plan_facts *facts)
{
    struct alike_kind kind = { .direct = facts->direct };

    if (a->full)
        return false;
    for (int i = 0; i < a->count; i++)
        if (!hud_rule_misfit_team(a->rule[i], facts))
            kind.serves[i / WORD_BITS] |= UINT64_C(1) << i % WORD_BITS;
    for (int i = 0; i < a->kinds; i++)
        if (memcmp(&a->kind[i], &kind, sizeof kind) == 0)
            return true;
    if (a->kinds < ALIKE_KINDS)
        a->kind[a->kinds++] = kind;
    return false;
}
