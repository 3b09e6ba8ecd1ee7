/* SPDX-License-Identifier: BSD-3-Clause */
/* facts.c - what rules may ask of a team: where its ranks are, and whether a rule is for such a team. */
#include "core/plan.h"

#include "core/model.h"

#include <string.h>

const char *hud_rule_misfit(const struct rule *rule, const struct plan_facts *facts, size_t bytes)
{
    return facts->ranks < rule->least_ranks || facts->ranks > rule->most_ranks ? "for other numbers of ranks"
           : rule->crowded >= 0 && rule->crowded != facts->crowded ? rule->crowded ? "for crowded ranks" : "for ranks that are not crowded"
           : rule->within[0] != '\0' && strcmp(rule->within, facts->within) != 0 ? "for ranks within another level"
           : plan_lacks_direct(rule->row, facts)                                 ? "for ranks that can reach each other's memory"
           : bytes < rule->least_bytes || bytes > rule->most_bytes               ? "for other sizes"
           : bytes < hud_rule_least_bytes(rule, facts)                           ? "another takes less, by the time model"
                                                                                 : NULL;
}

size_t hud_rule_least_bytes(const struct rule *rule, const struct plan_facts *facts)
{
    size_t from = rule->than >= 0 ? hud_model_cheaper_from(rule->row, rule->than, facts->ranks) : 0;

    return from > rule->least_bytes ? from : rule->least_bytes;
}

bool hud_plan_facts_equal(const struct plan_facts *a, const struct plan_facts *b)
{
    return a->ranks == b->ranks && a->crowded == b->crowded && a->direct == b->direct && strcmp(a->within, b->within) == 0;
}

void hud_plan_within(const struct place_table *table, int ranks, char within[TOPO_NAME])
{
    memcpy(within, "machine", sizeof "machine");
    for (int l = table->levels - 1; l >= 0; l--) {
        const int16_t *unit = table->unit + l * ranks;
        bool one = unit[0] >= 0;
        for (int r = 1; r < ranks; r++)
            one = one && unit[r] == unit[0];
        if (one)
            memcpy(within, table->name[l], TOPO_NAME);
    }
}
