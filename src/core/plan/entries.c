/* SPDX-License-Identifier: BSD-3-Clause */
/* entries.c - reads the entries of a finished plan. */
#include "base/hash.h"
#include "core/plan/wisdom_table.h"

#include <stdio.h>

int hud_plan_same_up_to(const struct plan *plan, int axis, int class)
{
    const struct plan_cell *cell = plan->cell[axis], *first = &cell[class];

    while (class + 1 < PLAN_CLASSES && cell[class + 1].candidate[0] == first->candidate[0] &&
           cell[class + 1].rule == first->rule)
        class ++;
    return class;
}

void hud_plan_first_choices(const struct plan *plan, const struct plan_entry **choice)
{
    for (int axis = 0; axis < PLAN_AXES; axis++)
        for (int class = 0; class < PLAN_CLASSES; class ++)
            *choice++ = &plan->entry[plan->cell[axis][class].candidate[0]];
}

void hud_plan_entry_name(const struct plan_entry *entry, char name[PLAN_ENTRY_NAME])
{
    const struct alg *alg = entry->row >= 0 ? hud_shm_algs[entry->row] : NULL;
    int used = snprintf(name, PLAN_ENTRY_NAME, "%s", alg ? alg->name : "mpi");

    for (int p = 0; alg && alg_param_at(alg, p) && used < PLAN_ENTRY_NAME; p++) {
        const struct alg_param *param = alg_param_at(alg, p);
        size_t room = (size_t)(PLAN_ENTRY_NAME - used);
        long value = entry->param[p];
        if (value != param->preset && param->words)
            used += snprintf(name + used, room, " %s=%s", param->name,
                             param->words[value - param->min]);
        else if (value != param->preset)
            used += snprintf(name + used, room, " %s=%ld", param->name, value);
    }
}

uint32_t hud_wisdom_name(int row, const long param[ALG_PARAMS])
{
    uint64_t h = hash_number(HASH_START, (uint64_t)(row + 1));

    for (int p = 0; row >= 0 && p < ALG_PARAMS; p++)
        h = hash_number(h, (uint64_t)param[p]);
    return (uint32_t)(h >> 32) | 1;
}
