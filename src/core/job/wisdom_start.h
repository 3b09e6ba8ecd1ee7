/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * wisdom_start.h - the initial choices of teams that share a plan and whose rank 0 knows the same
 * lines (wisdom.h).  Equal teams share one, so a duplicate of a communicator finds it made.
 *
 * Life      In a list of the context, under the context's lock.  A start is kept as long as its
 *           plan is, until another one of the same plan is made while no team uses it.  No start
 *           outlives its plan: a team leaves its start (hud_learn_free) before it drops the plan
 *           (hud_team_leave), so no team uses a start of a plan that no team has.  When the context
 *           ends, all starts are freed with all plans, also those of teams that were never freed.
 */
#ifndef HUD_WISDOM_START_H
#define HUD_WISDOM_START_H

#include "core/job/context.h"

struct wisdom_start {
    struct wisdom_start *next;
    const struct plan *plan;
    uint64_t digest; /* hud_wisdom_digest of what rank 0 knows */
    int teams;       /* number of teams that use it */
    int open;        /* number of cells with several candidates or a known choice */
    bool mpi_first;  /* broadcasts of some sizes begin with the MPI's own */
    const struct plan_entry *choice[PLAN_CELLS]; /* the choice of each cell, or PLAN_OPEN */
    uint8_t cell_of[PLAN_CELLS]; /* number of the measured cell, as in struct learn */
    int8_t known[PLAN_CELLS];    /* the candidate that is known to be the fastest, or -1 */
    struct wisdom_table table;   /* what is known */
};

/* Returns the start of a plan for a digest, for another team, or NULL. */
struct wisdom_start *hud_wisdom_start_find(struct hud_context *context, const struct plan *plan,
                                           uint64_t digest);
/* Returns memory for a start, or NULL. */
struct wisdom_start *hud_wisdom_start_reserve(struct hud_context *context);
/* Takes back memory that is not used, or NULL. */
void hud_wisdom_start_return(struct hud_context *context, struct wisdom_start *spare);
/* Adds a start, which a team uses.  The context frees it later. */
void hud_wisdom_start_add(struct hud_context *context, struct wisdom_start *start);
/* Ends the use of a start by a team. */
void hud_wisdom_start_leave(struct hud_context *context, struct wisdom_start *start);
/* Frees the starts of a plan that no team uses, or all starts if plan is NULL.  The lock is
 * held. */
void hud_wisdom_start_forget(struct hud_context *context, const struct plan *plan);

#endif
