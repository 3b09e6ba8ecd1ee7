/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * asked.h - the plan of a team that does not exist: ranks as a launcher would bind them, on this
 * machine with its tuning file, or on one that is described; with this process's settings.
 */
#ifndef HUD_ASKED_H
#define HUD_ASKED_H

#include "core/choose/planner.h"
#include "huddle/huddle.h"

struct asked {
    const struct hud_question *q;
    int kind;
    struct topo *machine;
    struct topo_cpus cpus; /* of it, that ranks may use */
    int processors;        /* that they may use at once */
    struct config config;
    struct rules tuning;
    struct planner *planner;
    int ranks; /* of the team whose plan this is: */
    struct shape_groups groups;
    struct place_table *table;
    struct plan_facts facts;
    struct plan plan;
};

/* The machine and the settings; no plan yet.  The question must stay until it is closed.  Returns
 * HUD_OK, or HUD_ERR_ARGUMENT or HUD_ERR_MEMORY: there is nothing to close. */
int hud_asked_open(const struct hud_question *q, struct asked **asked);
/* A plan for so many ranks, which replaces the one before.  False: out of memory. */
bool hud_asked_plan(struct asked *asked, int ranks);
void hud_asked_close(struct asked *asked); /* may be NULL */

/* Why such a team takes no call at all; NULL: it takes some. */
const char *hud_asked_refusal(const struct plan *plan, const struct config *config);

#endif
