/* SPDX-License-Identifier: BSD-3-Clause */
/* unserved.c - lines about the calls that a team's plan leaves to the MPI. */
#include "core/config/log.h"
#include "core/team/context.h"

#include <stdio.h>
#include <string.h>

static bool serves(const struct plan *plan, int kind)
{
    bool some = false;

    for (int e = plan->first[kind]; e < plan->first[kind + 1]; e++)
        some = some || plan->entry[e].slot >= 0;
    return some;
}

/* An algorithm that a setting names serves no call.  A line of the job's rank 0, for the first such
 * team.  (What must keep the ranks' order has a line of its own.) */
static void say_forced(struct hud_context *c, const struct plan *plan, int kind)
{
    int forced = hud_config_forced(&c->config, kind);
    char text[LACK_TEXT];

    if (forced < 0 || serves(plan, kind))
        return;
    enum plan_lack lack = hud_plan_lack(&c->config, plan, NULL, forced, kind, 0);
    bool warns = lack != LACK_ORDER && c->host.world_rank == 0 &&
                 hud_context_first(c, &c->said_forced[kind]);
    hud_plan_lack_text(&c->config, plan, lack, text);
    hud_log(&c->config, warns ? LOG_WARN : LOG_INFO,
            "%s=%s does not serve %d ranks: %s; using %s's own %s", hud_config_choice(kind),
            hud_shm_algs[forced]->name, plan->facts.ranks, text, c->owner, coll_name(kind));
}

bool hud_context_tells_memory(struct hud_context *c, int set)
{
    return hud_context_first(c, &c->said_memory) && c->host.world_rank == 0 &&
           strcmp(c->config.origin[set], "default") != 0;
}

/* Calls for which memory has no room, where no setting leaves them to the MPI. */
static void say_short(struct hud_context *c, const struct plan *plan)
{
    enum { NAMES = 24 * COLL_KINDS };
    int set = hud_plan_limit(&c->config, plan);
    bool tells = hud_context_tells_memory(c, set);
    char names[NAMES] = "";
    size_t at = 0;

    for (int kind = 0; kind < COLL_KINDS; kind++) {
        const struct plan_entry *largest = &plan->entry[plan->first[kind + 1] - 1];
        if (largest->row < 0 && !largest->rule &&
            hud_config_forced(&c->config, kind) == FORCED_NONE)
            at += (size_t)snprintf(names + at, NAMES - at, "%s%s", at ? ", " : "", coll_name(kind));
    }
    if (at > 0)
        hud_log(&c->config, tells ? LOG_WARN : LOG_INFO,
                "%s=%s has no room for all calls of %s on %d ranks; using %s's own for the others "
                "(huddle explain)",
                hud_settings(NULL)[set].name, c->config.text[set], names, plan->facts.ranks,
                c->owner);
}

void hud_context_say_plan(struct hud_context *c, const struct plan *plan)
{
    if (plan->too_rich)
        hud_log(
            &c->config, hud_context_first(c, &c->said_rich) ? LOG_WARN : LOG_INFO,
            "%s has more choices for %d ranks than fit (accepted: fewer rules for them, or wider "
            "ranges of bytes); the built-in table serves them",
            c->rules.file, plan->facts.ranks);
    for (int kind = 0; kind < COLL_KINDS; kind++)
        say_forced(c, plan, kind);
    say_short(c, plan);
}
