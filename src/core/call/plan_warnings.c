/* SPDX-License-Identifier: BSD-3-Clause */
/* plan_warnings.c - see plan_warnings.h. */
#include "core/call/plan_warnings.h"
#include "core/config/log.h"

#include <stdio.h>
#include <string.h>

static bool serves(const struct plan *plan, int kind)
{
    bool some = false;

    for (int class = 0; class < PLAN_CLASSES; class ++)
        some = some || plan->entry[plan->cell[kind][class].candidate[0]].slot >= 0;
    return some;
}

/* Prints that an algorithm named by a setting serves no call, by the job's rank 0 for the first
 * such team.  Reductions in fixed order have their own line. */
static void warn_forced(struct hud_context *c, const struct plan *plan, int kind)
{
    int forced = hud_config_forced(&c->config, kind);
    char text[REJECT_TEXT];

    if (forced < 0 || serves(plan, kind))
        return;
    enum plan_reject reject = hud_plan_reject(&c->config, plan, NULL, forced, kind, 0);
    bool warns = reject != REJECT_ORDER && c->host.world_rank == 0 &&
                 hud_context_first(c, &c->reported.forced[kind]);
    hud_plan_reject_text(&c->config, plan, reject, text);
    hud_log(&c->config, warns ? LOG_WARN : LOG_INFO,
            "%s=%s does not serve %d ranks: %s; using %s's own %s", hud_config_choice(kind),
            hud_shm_algs[forced]->name, plan->facts.ranks, text, c->id.owner, coll_name(kind));
}

bool hud_plan_warnings_memory(struct hud_context *c, int set)
{
    return hud_context_first(c, &c->reported.memory) && c->host.world_rank == 0 &&
           strcmp(c->config.origin[set], "default") != 0;
}

/* Reports calls for which the memory does not suffice, unless a setting selects the MPI's own. */
static void warn_short_memory(struct hud_context *c, const struct plan *plan)
{
    enum { NAMES = 24 * COLL_KINDS };
    int set = hud_plan_limit(&c->config, plan);
    bool tells = hud_plan_warnings_memory(c, set);
    char names[NAMES] = "";
    size_t at = 0;

    for (int kind = 0; kind < COLL_KINDS; kind++) {
        const struct plan_cell *largest = &plan->cell[kind][PLAN_CLASSES - 1];
        if (largest->candidate[0] == PLAN_NOTHING &&
            hud_config_forced(&c->config, kind) == FORCED_NONE)
            at += (size_t)snprintf(names + at, NAMES - at, "%s%s", at ? ", " : "", coll_name(kind));
    }
    if (at > 0)
        hud_log(&c->config, tells ? LOG_WARN : LOG_INFO,
                "%s=%s is too little for all calls of %s on %d ranks; calls that do not fit fall "
                "back to %s (see huddle explain)",
                hud_settings(NULL)[set].name, c->config.text[set], names, plan->facts.ranks,
                c->id.owner);
}

void hud_plan_warnings_print(struct hud_context *c, const struct plan *plan)
{
    if (plan->too_rich)
        hud_log(
            &c->config, hud_context_first(c, &c->reported.rich) ? LOG_WARN : LOG_INFO,
            "%s has too many rules for %d ranks (accepted: fewer rules, or wider ranges of bytes); "
            "using the built-in table instead",
            c->plan.rules.file, plan->facts.ranks);
    for (int kind = 0; kind < COLL_KINDS; kind++)
        warn_forced(c, plan, kind);
    warn_short_memory(c, plan);
}
