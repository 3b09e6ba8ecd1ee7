/* SPDX-License-Identifier: BSD-3-Clause */
/* query.c - see query.h. */
#include "tools/query/query.h"
#include "core/arena/budget.h"
#include "core/arena/direct.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

static bool is_here(const struct query *a)
{
    return !a->q->described;
}

/* Counts processors as a team's ranks would.  On this machine only processors that this process may
 * use count, and no more than its cgroups allow; elsewhere all do.  A given topology numbers
 * processors in its own way. */
static void find_processors(struct query *a)
{
    struct topo_cpus allowed;
    int quota = is_here(a) ? hud_topo_cpu_quota() : INT_MAX;

    hud_topo_all(a->machine, &a->cpus);
    hud_topo_allowed(&allowed);
    for (int w = 0; w < TOPO_CPUS / 64 && is_here(a) && !a->q->topology; w++)
        a->cpus.word[w] &= allowed.word[w];
    a->processors = hud_topo_cpus_count(&a->cpus);
    a->processors = quota < a->processors ? quota : a->processors;
}

/* Finds facts about the machine: its processors, and whether ranks would reach each other's memory.
 * On this machine one process can tell only a part; a description does not mention XPMEM. */
static void find_known(struct query *a)
{
    const struct hud_described *d = a->q->described;
    const long *number = a->config.number;
    bool maps = !d && number[SET_XPMEM] != XPMEM_OFF && hud_direct_may_map(),
         calls = number[SET_CMA] != SINGLE_COPY_OFF && (d ? d->direct != 0 : hud_direct_likely());

    a->facts.direct = maps || calls;
    if (maps)
        a->facts.quick = number[SET_XPMEM] == XPMEM_KEEP;
    else
        a->facts.quick = calls && (number[SET_CMA] == SINGLE_COPY_ON ||
                                   (d ? d->quick != 0 : hud_direct_is_quick()));
}

/* Finds the places of the ranks as the set-up of a team does. */
static bool find_place(struct query *a)
{
    size_t ranks = (size_t)a->ranks;
    struct topo_cpus *cpus = malloc(ranks * sizeof *cpus);
    struct shape_place place = { .unit = NULL };
    const char *off = a->config.text[SET_LEVELS_OFF];

    a->table = calloc(1, sizeof *a->table + SHAPE_LEVELS * ranks * sizeof(int16_t));
    bool good = cpus && a->table;
    if (good) {
        find_processors(a);
        good = hud_topo_bind(a->machine, &a->cpus, a->q->map, a->ranks, cpus) &&
               hud_topo_place(a->machine, cpus, a->ranks, off, &place) == 0 &&
               hud_shape_groups_build(&place, &a->groups) == 0;
    }
    if (good) {
        a->table->levels = hud_topo_kept(a->machine, off, a->table->name);
        for (size_t i = 0; i < (size_t)a->table->levels * ranks; i++)
            a->table->unit[i] = (int16_t)place.unit[i];
        a->facts.ranks = a->ranks;
        a->facts.oversubscribed = a->ranks > a->processors;
        find_known(a);
        hud_plan_locate(a->table, &a->facts);
    }
    free((void *)(uintptr_t)place.unit);
    free(cpus);
    return good;
}

/* Frees the inputs of the last plan. */
static void forget_place(struct query *a)
{
    hud_shape_groups_free(&a->groups);
    free(a->table);
    a->groups = (struct shape_groups){ .levels = 0 };
    a->table = NULL;
}

/* Returns the bytes of a rank's arena, here or on the described machine. */
static size_t arena_bytes(const struct query *a)
{
    long set = a->config.number[SET_MEMORY];

    return set >= 0     ? (size_t)set
           : is_here(a) ? hud_budget_default(a->ranks)
                        : hud_budget_of(hud_topo_memory(a->machine), a->processors, a->ranks);
}

const char *hud_query_refusal(const struct plan *plan, const struct config *config)
{
    return config->error[0] != '\0'               ? hud_reason_text[REASON_SETTING]
           : config->number[SET_ON] == SWITCH_OFF ? hud_reason_text[REASON_OFF]
           : plan->facts.ranks == 1               ? hud_reason_text[REASON_ONE_RANK]
           : plan->total_bytes == 0               ? hud_reason_text[REASON_LEASE]
                                                  : NULL;
}

static bool understood(const struct hud_question *q)
{
    static const char *const maps[] = { "core", "numa", "socket", "none" };
    bool map = false;

    for (size_t i = 0; q && q->map && i < sizeof maps / sizeof *maps; i++)
        map = map || strcmp(q->map, maps[i]) == 0;
    return map && q->collective && hud_coll_kind(q->collective) >= 0 && q->ranks >= 1 &&
           q->ranks <= INT16_MAX;
}

static void read_settings(struct query *a)
{
    hud_config_read(NULL, &a->config);
    const char *tuning = a->config.text[SET_TUNING];
    if (!is_here(a) && tuning[0] == '\0')
        tuning = "off"; /* measurements of this machine do not apply to another one, unless the user
                           names their file */
    if (a->config.error[0] == '\0')
        hud_rules_find(&a->tuning, tuning, a->config.error, sizeof a->config.error);
}

int hud_query_open(const struct hud_question *q, struct query **query)
{
    struct query *a;

    *query = NULL;
    if (!understood(q) || !hud_rules_builtin() || !(a = calloc(1, sizeof *a)))
        return understood(q) ? HUD_ERR_MEMORY : HUD_ERR_ARGUMENT;
    a->q = q;
    a->kind = hud_coll_kind(q->collective);
    a->machine = q->topology ? hud_topo_load_described(q->topology) : hud_topo_load();
    if (!a->machine)
        return free(a), HUD_ERR_ARGUMENT;
    read_settings(a);
    a->planner = hud_planner_create(&a->config, &a->tuning);
    if (!a->planner)
        return hud_query_close(a), HUD_ERR_MEMORY;
    *query = a;
    return HUD_OK;
}

bool hud_query_plan(struct query *a, int ranks)
{
    size_t arena, offer;

    forget_place(a);
    a->ranks = ranks;
    if (!find_place(a))
        return false;
    arena = arena_bytes(a);
    offer = hud_plan_offer(a->planner, ranks, arena, arena);
    hud_plan_make(a->planner, &a->facts, offer, true, &a->plan);
    for (int at = 0; hud_query_refusal(&a->plan, &a->config) && at < PLAN_CELLS; at++)
        a->plan.cell[at / PLAN_CLASSES][at % PLAN_CLASSES] =
            (struct plan_cell){ .count = 1, .candidate = { PLAN_NOTHING } };
    return true;
}

void hud_query_plan_roomy(struct query *a)
{
    const size_t plenty = (size_t)1 << 32; /* more than all slots of all candidates take */

    hud_plan_make(a->planner, &a->facts, plenty, true, &a->roomy);
}

void hud_query_close(struct query *a)
{
    if (!a)
        return;
    forget_place(a);
    hud_topo_free(a->machine);
    hud_planner_free(a->planner);
    hud_rules_free(&a->tuning);
    free(a);
}
