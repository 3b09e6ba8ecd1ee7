/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * planner.h - makes plans of one configuration: the memory for it, and the results that later teams
 * need again.
 *
 * A plan in the making takes more memory than a small stack has, and the first collective of a
 * communicator may be in a thread with such a stack.  So the memory is allocated once, with a
 * context.  A planner makes one plan at a time: a context's is used under its lock.
 */
#ifndef HUD_PLANNER_H
#define HUD_PLANNER_H

#include "core/choose/plan.h"

struct planner;

/* For plans of these settings and rules, which must stay as they are.  NULL: out of memory. */
struct planner *hud_planner_create(const struct config *config, const struct rules *tuning);
void hud_planner_free(struct planner *planner);

/* How many plans it has made so far, for tests. */
unsigned hud_planner_made(const struct planner *planner);

/* The same facts give the same plan.  windows: with the algorithms that need one. */
void hud_plan_make(struct planner *planner, const struct plan_facts *facts, size_t max_bytes,
                   bool windows, struct plan *plan);

/* The bytes that every plan for so many ranks, wherever they are, can do with: what is reserved
 * before it is known where they are.  *direct: one of them has an algorithm that reaches
 * into other ranks' memory.  The results for the last teams are kept. */
size_t hud_plan_bytes(struct planner *planner, int ranks, size_t max_bytes, bool windows,
                      bool *direct);

/* The same for a team whose calls are all alike, and the bytes of a slice that its plan is to be
 * made for. */
size_t hud_plan_only_bytes(struct planner *planner, int ranks, const struct plan_only *only,
                           size_t *max_bytes, bool *direct);

/*
 * Bytes to offer a new team of an arena of which free_bytes are free: a quarter, at most the
 * setting; or control lines only; or 0.  Under HUDDLE_REDUCE_ORDER=fixed half the arena is kept for
 * teams that come late, and control lines come with one window that serves all reductions.
 */
size_t hud_plan_offer(struct planner *planner, int ranks, size_t arena_bytes, size_t free_bytes);

/* And one whose calls are all alike: half the arena is kept for the others. */
size_t hud_plan_only_offer(size_t arena_bytes, size_t free_bytes);

#endif
