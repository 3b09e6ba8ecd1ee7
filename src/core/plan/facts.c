/* SPDX-License-Identifier: BSD-3-Clause */
/* facts.c - finds the facts about a team's places, and compares facts with a rule's conditions. */
#include "core/plan/plan.h"

#include "core/plan/model.h"

#include <string.h>

bool hud_plan_is_within(const char *within, const struct plan_facts *facts)
{
    return within[0] == '\0' || strcmp(within, facts->within) == 0 ||
           (strcmp(within, "unit") == 0 && strcmp(facts->within, "machine") != 0);
}

const char *hud_rule_misfit_team(const struct rule *rule, const struct plan_facts *facts)
{
    return facts->ranks < rule->min_ranks || facts->ranks > rule->max_ranks
               ? "for other numbers of ranks"
           : rule->nodes != facts->nodes ? "for another number of nodes"
           : rule->oversubscribed >= 0 && rule->oversubscribed != facts->oversubscribed
               ? rule->oversubscribed ? "for oversubscribed ranks"
                                      : "for ranks that are not oversubscribed"
           : !hud_plan_is_within(rule->within, facts) ? "for ranks within another level"
           : rule->divided >= 0 && rule->divided != facts->divided
               ? rule->divided ? "for ranks in several units of a level"
                               : "for ranks in one unit of every level"
           : rule->direct == 0 && facts->direct ? "for ranks that cannot reach each other's memory"
           : plan_lacks_direct(rule->row, facts) || (rule->direct == 1 && !facts->direct)
               ? "for ranks that can reach each other's memory"
           : rule->quick == 0 && facts->quick
               ? "for ranks for whom the kernel does not copy quickly"
           : rule->quick == 1 && !facts->quick ? "for ranks for whom the kernel copies quickly"
                                               : NULL;
}

const char *hud_rule_misfit(const struct rule *rule, const struct plan_facts *facts, int axis,
                            size_t bytes)
{
    const char *why = hud_rule_misfit_team(rule, facts);

    return why                                                            ? why
           : rule->reduction >= 0 && rule->reduction != axis / COLL_KINDS ? "for other reductions"
           : bytes < rule->min_bytes || bytes > rule->max_bytes           ? "for other sizes"
           : bytes < hud_rule_min_bytes(rule, facts) ? "another takes less, by the time model"
                                                     : NULL;
}

bool hud_rule_same_calls(const struct rule *a, const struct rule *b)
{
    return a->kind == b->kind && a->reduction == b->reduction && a->nodes == b->nodes &&
           a->min_ranks == b->min_ranks && a->max_ranks == b->max_ranks &&
           a->min_bytes == b->min_bytes && a->max_bytes == b->max_bytes &&
           a->oversubscribed == b->oversubscribed && a->divided == b->divided &&
           a->direct == b->direct && a->quick == b->quick && a->than == b->than &&
           strcmp(a->within, b->within) == 0;
}

bool hud_rule_same_choice(const struct rule *a, const struct rule *b)
{
    return a->row == b->row && memcmp(a->given, b->given, sizeof a->given) == 0 &&
           memcmp(a->param, b->param, sizeof a->param) == 0;
}

size_t hud_rule_min_bytes(const struct rule *rule, const struct plan_facts *facts)
{
    size_t from = rule->than >= 0 ? hud_model_cheaper_from(rule->row, rule->than, facts->ranks) : 0;

    return from > rule->min_bytes ? from : rule->min_bytes;
}

bool hud_plan_single_call_equal(const struct plan_single_call *a, const struct plan_single_call *b)
{
    return a->enabled == b->enabled &&
           (!a->enabled || (a->axis == b->axis && a->bytes == b->bytes));
}

bool hud_plan_facts_equal(const struct plan_facts *a, const struct plan_facts *b)
{
    return a->ranks == b->ranks && a->nodes == b->nodes && a->oversubscribed == b->oversubscribed &&
           a->direct == b->direct && a->quick == b->quick && a->divided == b->divided &&
           strcmp(a->within, b->within) == 0 &&
           hud_plan_single_call_equal(&a->single_call, &b->single_call);
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
