/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * planner.h - makes the plans of one configuration.  A planner has the memory for a plan that is
 * being made, and keeps results that later teams need again.
 *
 * A plan that is being made takes more memory than a small stack has, and the first collective of a
 * communicator may be called in a thread with such a stack.  So the memory is allocated once, with
 * the context.  A planner makes one plan at a time; a context's planner is used under its lock.
 */
#ifndef HUD_PLANNER_H
#define HUD_PLANNER_H

#include "core/plan/plan.h"

struct planner;

/* Rules and costs by which a context chooses, and its plans. */
struct context_plan {
    struct rules rules;          /* rules of the tuning file; set before the first team */
    struct cost_network network; /* numbers of the tuning file, else measured ones; alpha_ns 0
                                    until they are known */
    struct planner *planner;     /* NULL: out of memory, so no team is set up */
    struct plan *plans; /* the plans that teams use, and some dropped ones that later teams may
                           need; the last used first */
};

/* Creates a planner for settings and rules, which must not change later.  Reads the file of
 * HUDDLE_LAB_PRIOR, and sets config->error if the file is wrong.  Returns NULL if out of memory. */
struct planner *hud_planner_create(struct config *config, const struct rules *tuning);
void hud_planner_free(struct planner *planner);

/* Returns the rules to use where no tuning file has a choice: the built-in table, or the rules of
 * HUDDLE_LAB_PRIOR. */
const struct rules *hud_planner_prior(const struct planner *planner);

/* Returns the number of plans made so far, for tests. */
unsigned hud_planner_made(const struct planner *planner);

/* Makes a plan.  The same arguments give the same plan.  windows: whether algorithms that need a
 * window may serve. */
void hud_plan_make(struct planner *planner, const struct plan_facts *facts, size_t max_bytes,
                   bool windows, struct plan *plan);

/* Returns the size of a slice that suffices for a plan of `ranks` ranks, wherever they are.  A
 * slice is reserved before the places are known.  Sets *direct to whether such a plan may have a
 * direct algorithm.  Keeps the results of the last teams. */
size_t hud_plan_bytes(struct planner *planner, int ranks, size_t max_bytes, bool windows,
                      bool *direct);

/* Returns the same for a single-call team.  Sets *max_bytes to the max_bytes for its plan. */
size_t hud_plan_single_call_bytes(struct planner *planner, int ranks,
                                  const struct plan_single_call *only, size_t *max_bytes,
                                  bool *direct);

/*
 * Returns the bytes to offer a new team of an arena of which free_bytes are free: a quarter of
 * them, at most hud_plan_lease_bytes; or enough for control lines only; or 0.  Under
 * HUDDLE_REDUCE_ORDER=fixed half the arena is kept for later teams, and control lines come with a
 * window for all reductions.
 */
size_t hud_plan_offer(struct planner *planner, int ranks, size_t arena_bytes, size_t free_bytes);

/* Returns the same for a single-call team: half the arena is kept for other teams. */
size_t hud_plan_single_call_offer(size_t arena_bytes, size_t free_bytes);

#endif
