/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * query.h - the plan of a team that does not exist: ranks as a launcher would bind them, on this
 * machine with its tuning file, or on one that is described; with this process's settings.
 */
#ifndef HUD_QUERY_H
#define HUD_QUERY_H

#include "core/plan/planner.h"
#include "tools/query/answers.h"

struct query {
    const struct hud_question *q;
    int kind;
    struct topo *machine;
    struct topo_cpus cpus; /* processors that ranks may use */
    int processors;        /* number that they may use at once */
    struct config config;
    struct rules tuning;
    struct planner *planner;
    int ranks; /* size of the team whose plan this is: */
    struct shape_groups groups;
    struct place_table *table;
    struct plan_facts facts;
    struct plan plan, roomy; /* roomy: with memory for all candidates (hud_query_plan_roomy) */
};

/* Reads the machine and the settings, and makes no plan yet.  The question must stay until it is
 * closed.  Returns HUD_OK, or HUD_ERR_ARGUMENT or HUD_ERR_MEMORY, with nothing to close. */
int hud_query_open(const struct hud_question *q, struct query **query);
/* Makes a plan for `ranks` ranks, which replaces the previous plan.  Returns false if out of
 * memory. */
bool hud_query_plan(struct query *query, int ranks);
/* Makes the plan that the same ranks would have if memory were no limit. */
void hud_query_plan_roomy(struct query *query);
void hud_query_close(struct query *query); /* may be NULL */

/* Returns why such a team takes no call at all, or NULL if it takes some. */
const char *hud_query_refusal(const struct plan *plan, const struct config *config);

#endif
