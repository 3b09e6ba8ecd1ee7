/* SPDX-License-Identifier: BSD-3-Clause */
/* facts.c - the facts about a team that rules ask for: where its ranks are, and whether a rule
 * matches it. */
#include "core/choose/plan.h"

#include "core/choose/model.h"

#include <string.h>

static bool is_within(const struct rule *rule, const struct plan_facts *facts)
{
    return rule->within[0] == '\0' || strcmp(rule->within, facts->within) == 0 ||
           (strcmp(rule->within, "unit") == 0 && strcmp(facts->within, "machine") != 0);
}

const char *hud_rule_misfit_team(const struct rule *rule, const struct plan_facts *facts)
{
    return facts->ranks < rule->min_ranks || facts->ranks > rule->max_ranks
               ? "for other numbers of ranks"
           : rule->oversubscribed >= 0 && rule->oversubscribed != facts->oversubscribed
               ? rule->oversubscribed ? "for oversubscribed ranks"
                                      : "for ranks that are not oversubscribed"
           : !is_within(rule, facts) ? "for ranks within another level"
           : rule->divided >= 0 && rule->divided != facts->divided
               ? rule->divided ? "for ranks in several units of a level"
                               : "for ranks in one unit of every level"
           : rule->direct == 0 && facts->direct ? "for ranks that cannot reach each other's memory"
           : plan_lacks_direct(rule->row, facts) || (rule->direct == 1 && !facts->direct)
               ? "for ranks that can reach each other's memory"
           : rule->quick == 0 && facts->quick
               ? "for ranks for whom the kernel does not copy quickly"
           : rule->quick == 1 && !facts->quick ? "for ranks for whom the kernel copies quickly"
           : rule->intel >= 0 && rule->intel != facts->intel
               ? rule->intel ? "for Intel's processors" : "for processors that are not Intel's"
               : NULL;
}

const char *hud_rule_misfit(const struct rule *rule, const struct plan_facts *facts, size_t bytes)
{
    const char *why = hud_rule_misfit_team(rule, facts);

    return why                                                  ? why
           : bytes < rule->min_bytes || bytes > rule->max_bytes ? "for other sizes"
           : bytes < hud_rule_min_bytes(rule, facts) ? "another takes less, by the time model"
                                                     : NULL;
}

size_t hud_rule_min_bytes(const struct rule *rule, const struct plan_facts *facts)
{
    size_t from = rule->than >= 0 ? hud_model_cheaper_from(rule->row, rule->than, facts->ranks) : 0;

    return from > rule->min_bytes ? from : rule->min_bytes;
}

bool hud_plan_only_equal(const struct plan_only *a, const struct plan_only *b)
{
    return a->is == b->is && (!a->is || (a->axis == b->axis && a->bytes == b->bytes));
}

bool hud_plan_facts_equal(const struct plan_facts *a, const struct plan_facts *b)
{
    return a->ranks == b->ranks && a->oversubscribed == b->oversubscribed &&
           a->direct == b->direct && a->quick == b->quick && a->intel == b->intel &&
           a->divided == b->divided && strcmp(a->within, b->within) == 0 &&
           hud_plan_only_equal(&a->only, &b->only);
}

void hud_plan_locate(const struct place_table *table, struct plan_facts *facts)
{
    memcpy(facts->within, "machine", sizeof "machine");
    facts->divided = false;
    for (int l = table->levels - 1; l >= 0; l--) {
        const int16_t *unit = table->unit + l * facts->ranks;
        bool one = unit[0] >= 0;
        for (int r = 1; r < facts->ranks; r++)
            one = one && unit[r] == unit[0];
        if (one)
            memcpy(facts->within, table->name[l], TOPO_NAME);
        facts->divided = facts->divided || !one;
    }
}
