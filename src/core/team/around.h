/* SPDX-License-Identifier: BSD-3-Clause */
/* around.h - what comes before and after a call, for those that huddle makes and those that it
 * leaves to the host. */
#ifndef HUD_AROUND_H
#define HUD_AROUND_H

#include "core/team/team.h"

/* The call counts in the statistics.  became: why it is not handled. */
static inline void around_count(struct hud_team *team, enum coll_kind kind, size_t bytes,
                                enum reason became)
{
    struct stats_coll *s = &context_stats(team->context)->coll[kind];
    bool threads = team->context->host.threads != 0;

    mem_count(&s->calls, 1, threads);
    mem_count(&s->bytes, bytes, threads);
    mem_count(&s->became[became], 1, threads);
}

/* For who asks after the call: the calling thread's last call was not handled, and why. */
void hud_around_tell(enum reason why);
/* Where the thread is told.  The recorder (src/host/record) reads it and sets it to 0. */
HUD_API int *hud_reason_here(void);

/* A call that is the host's own; counted, as a rank that waits in one of huddle's must see that
 * this one makes another. */
static inline void around_fall_back(struct hud_team *team, enum coll_kind kind, size_t bytes)
{
    if (team->state == TEAM_READY)
        member_count(team->mine, MEMBER_FELL_BACK,
                     mem_count_read(&team->mine->calls[MEMBER_FELL_BACK]) + 1,
                     member_shape((int)kind, -1, bytes));
}

/* In fixed order: a reduction that the MPI carries out, in an order of its own, is reported
 * in one line by the team's rank 0. */
void hud_around_report_order(struct hud_team *team, enum coll_kind kind, enum reason why);

/* Why no algorithm of a team that is ready takes a call, which has that entry. */
enum reason hud_around_unhandled(const struct hud_team *team, enum coll_kind kind,
                                 const struct plan_entry *entry);

/* What comes before a call: of a blocking one the requests that were started before it; the
 * set-up.  strand: of a request, that it runs on. */
void hud_around_precede(struct hud_team *team, struct strand *strand);

/* This member makes no further calls on the team, nor do the others once they know. */
int hud_around_give_up(struct hud_team *team, int status);

/* A member did not come to what precedes the call, and cannot. */
int hud_around_fail_before(struct hud_team *team, int status);

#endif
