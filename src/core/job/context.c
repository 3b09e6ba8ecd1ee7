/* SPDX-License-Identifier: BSD-3-Clause */
/* context.c - what one rank has and knows: its arena, the machine, plans, lines that are printed
 * once. */
#define _GNU_SOURCE
#include "core/job/context.h"
#include "base/valgrind.h"
#include "core/arena/budget.h"
#include "core/arena/direct.h"
#include "core/config/log.h"
#include "core/job/presence.h"
#include "core/job/wisdom_start.h"
#include "lazy_libs/lazy_libs.h"

#include <stdlib.h>

/* Plans without a team that a context keeps. */
enum { IDLE_PLANS = 4 };

bool hud_context_present(const struct hud_context *c, int world_rank)
{
    if (c->host.present)
        return c->host.present(c->host.arg, world_rank) > 0;
    return !hud_presence_known() || c->id.vouched || hud_presence_of(world_rank);
}

bool hud_context_unlike(const struct hud_context *c, int world_rank)
{
    return c->host.present ? c->host.present(c->host.arg, world_rank) < 0
                           : hud_presence_unlike(world_rank);
}

/* Moves the counters of this rank to its arena, where it counts from now on. */
static void move_stats(struct hud_context *c)
{
    mem_counter *from = (mem_counter *)&c->count.early,
                *to = (mem_counter *)&c->memory.arena.head->stats;

    local_set(&c->count.stats, &c->memory.arena.head->stats);
    for (size_t i = 0; i < sizeof c->count.early / sizeof *from; i++)
        mem_count_move(&from[i], &to[i]);
}

/* Returns whether huge pages are wanted and possible: a slice on another node than its rank's
 * would split a huge page. */
bool hud_context_huge(const struct hud_context *c)
{
    return c->config.number[SET_HUGE_PAGES] == SWITCH_ON &&
           c->config.number[SET_PLACEMENT] == SWITCH_ON;
}

/* Returns the ways to other ranks' memory.  On Valgrind there are none: its memcheck misses the
 * writes of other processes to memory here, and copied bytes would stay undefined.  A rank
 * without ways has none for its team. */
unsigned hud_context_ways(const struct hud_context *c)
{
    if (valgrind_is_running())
        return 0;
    return (c->config.number[SET_CMA] != SINGLE_COPY_OFF ? DIRECT_CALLS : 0) |
           (c->config.number[SET_XPMEM] != XPMEM_OFF ? DIRECT_MAPPED : 0);
}

int hud_context_arena(struct hud_context *c, int team_ranks)
{
    int rc = 0;

    pthread_mutex_lock(&c->lock);
    if (!c->memory.arena.head && !c->memory.arena_why) {
        int ranks = c->host.local_ranks > 0 ? c->host.local_ranks : team_ranks;
        long wanted = c->config.number[SET_MEMORY];
        size_t bytes = wanted >= 0 ? (size_t)wanted : hud_budget_default(ranks);
        if (bytes > 0 && !hud_budget_has_space(bytes, ranks)) {
            c->memory.arena_why = "too little address space is left (ulimit -v)";
        } else if (!hud_budget_has_descriptors()) {
            c->memory.arena_why = "fewer than 64 descriptors are allowed (ulimit -n)";
        } else if (hud_arena_create(&c->memory.arena, bytes, hud_context_huge(c) ? ranks : 0,
                                    &c->memory.arena_why) == 0) {
            c->memory.arena_why = NULL;
            c->memory.arena.head->mark.world_rank = c->host.world_rank;
            move_stats(c);
        }
    }
    if (!c->memory.arena.head)
        rc = -1;
    pthread_mutex_unlock(&c->lock);
    return rc;
}

const struct topo *hud_context_topo(struct hud_context *c)
{
    pthread_mutex_lock(&c->lock);
    bool failed = false;
    if (!c->machine.topo_loaded) {
        c->machine.topo = hud_topo_load();
        c->machine.topo_loaded = true;
        failed = !c->machine.topo;
    }
    pthread_mutex_unlock(&c->lock);
    if (failed && c->host.world_rank == 0) {
        const char *why = hud_lazy_trouble(LAZY_TOPOLOGY);
        hud_log(&c->config, LOG_WARN,
                "the topology of the machine is unknown, so ranks form no groups: %s",
                why ? why : "hwloc cannot describe it");
    }
    return c->machine.topo;
}

static struct plan *unlink_plan(struct plan **at)
{
    struct plan *plan = *at;

    *at = plan->next;
    return plan;
}

const struct plan *hud_context_plan(struct hud_context *c, const struct plan_facts *facts,
                                    size_t max_bytes, struct plan **spare)
{
    pthread_mutex_lock(&c->lock);
    struct plan *p, **at = &c->plan.plans;
    while (*at && (!hud_plan_facts_equal(&(*at)->facts, facts) || (*at)->max_bytes != max_bytes))
        at = &(*at)->next;
    if (*at) {
        p = unlink_plan(at);
    } else {
        p = *spare;
        *spare = NULL;
        hud_plan_make(c->plan.planner, facts, max_bytes, true, p);
        hud_plan_first_choices(p, p->choice);
    }
    p->next = c->plan.plans;
    c->plan.plans = p;
    p->teams++;
    pthread_mutex_unlock(&c->lock);
    return p;
}

void hud_context_drop(struct hud_context *c, const struct plan *plan)
{
    pthread_mutex_lock(&c->lock);
    struct plan **at = &c->plan.plans, **oldest = NULL;
    int idle = 0;
    for (; *at; at = &(*at)->next) {
        (*at)->teams -= *at == plan;
        if ((*at)->teams == 0) {
            oldest = at;
            idle++;
        }
    }
    struct plan *gone = idle > IDLE_PLANS ? unlink_plan(oldest) : NULL;
    if (gone)
        hud_wisdom_start_forget(c, gone);
    pthread_mutex_unlock(&c->lock);
    free(gone);
}

void hud_context_free_plans(struct hud_context *c)
{
    hud_wisdom_start_forget(c, NULL);
    free(c->learn.spare_start);
    while (c->plan.plans)
        free(unlink_plan(&c->plan.plans));
}

bool hud_context_first(struct hud_context *c, bool *reported)
{
    pthread_mutex_lock(&c->lock);
    bool first = !*reported;
    *reported = true;
    pthread_mutex_unlock(&c->lock);
    return first;
}

void hud_context_report_more(const struct hud_context *c)
{
    for (int i = 0; i < c->config.more_count; i++)
        hud_log(&c->config, LOG_ERROR, "%s", c->config.more[i]);
}

void hud_context_report(struct hud_context *c, enum reason reason, const char *line)
{
    bool first = hud_context_first(c, &c->reported.reason[reason]);

    if (!first || !line)
        return;
    hud_log(&c->config, reason == REASON_SETTING || reason == REASON_DIFFER ? LOG_ERROR : LOG_WARN,
            "%s; using %s's own collectives", line, c->id.owner);
    if (reason == REASON_SETTING)
        hud_context_report_more(c);
}
