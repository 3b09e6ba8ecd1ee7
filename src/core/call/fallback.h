/* SPDX-License-Identifier: BSD-3-Clause */
/* fallback.h - why a call falls back to the host (base/reason.h): finds the reason, records it for
 * the thread, reports it.  Also finishes the requests and the set-up that precede a call. */
#ifndef HUD_FALLBACK_H
#define HUD_FALLBACK_H

#include "core/call/learn.h"
#include "core/watch/realign.h"

/* Records, per thread, why the last call fell back. */
void hud_fallback_record(enum reason why);
/* Returns the record of this thread.  The recorder (src/host/record) reads the record and sets
 * it to 0. */
HUD_API int *hud_reason_here(void);

/* Publishes a call of the host's own.  A rank in a long wait of huddle's sees that this rank
 * makes another call. */
static inline void fallback_publish(struct hud_team *team, enum coll_kind kind, size_t bytes)
{
    hud_realign_publish(team, member_shape((int)kind, -1, bytes));
}

/* Reports a reduction in fixed order that the MPI carries out in its own order, in a line by the
 * team's rank 0. */
void hud_fallback_report_order(struct hud_team *team, enum coll_kind kind, enum reason why);

/* Returns why a team that is ready leaves a call of the plan's cell `at` to the host. */
enum reason hud_fallback_reason(const struct hud_team *team, int at);

static inline __attribute__((always_inline)) bool fallback_elements_fit(const struct coll *call)
{
    return !call->reduction || call->reduction->element_bytes <= HUD_ELEMENT_MAX;
}

/* Returns whether all members leave a call of the plan's cell `at` to the host, whatever they have
 * learned. */
static inline bool fallback_is_fixed(const struct hud_team *team, const struct coll *call, int at)
{
    return !fallback_elements_fit(call) ||
           (hud_learn_by_huddle(team, at)->slot < 0 && !hud_learn_may_handle(team, at));
}

/* Completes the earlier requests if the call is blocking, and then sets the team up if necessary.
 * task: the task of a nonblocking call, or NULL. */
void hud_fallback_precede(struct hud_team *team, struct fiber_task *task);

/* Ends a call before which the members could not agree (learn.h).  If another member had given up,
 * others may be past the agreement, and in the call: the call ends as theirs.  Otherwise a member
 * makes another call, so none is past the agreement: the call fails.  Returns the status, or
 * HUD_PASS if the call falls back. */
int hud_fallback_disagree(struct hud_team *team, enum coll_kind kind, size_t bytes, int status);

/* Checks a call, with HUDDLE_CHECK.  is_fixed: the call falls back on all members.  Returns
 * HUD_OK, HUD_PASS if the members differ, or the status with which the call fails.  A call that
 * falls back does not fail if the members' calls in huddle end. */
int hud_fallback_check(struct hud_team *team, const struct hud_announced *call, bool is_fixed);

/* Decides about a call of the plan's cell `at` that is not handled.  Returns HUD_PASS, or an error
 * if the team has been given up and a member is ahead (core/watch/realign.h). */
int hud_fallback_realign(struct hud_team *team, enum coll_kind kind, const struct coll *call,
                         int at);

#endif
