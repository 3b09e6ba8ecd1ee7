/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * requests.h - calls that run on a strand: what they ask of the other parts of a team, and those of
 * them.  The public calls on requests are in request.c.
 */
#ifndef HUD_REQUESTS_H
#define HUD_REQUESTS_H

#include "core/team/team.h"

/*
 * A nonblocking or persistent call.  Under the lock of lanes while it is in flight.  The pool's
 * lists are under that of the pool.
 */
struct hud_request {
    struct lane_task task;
    struct hud_team *team;
    struct hud_context *context;
    struct hud_request *prev, *next; /* of the host's, or of the spare ones */
    struct strand *strand;           /* that it runs on */
    struct hud_passed passed;
    int status;           /* of the last call */
    bool tested;          /* since its start */
    struct hud_args args; /* what it calls, with the copies below */
    struct hud_op op, user_op;
    struct hud_view in, out;
    struct request_packed {
        struct hud_view user;
        struct hud_request *request;
    } packed_in, packed_out;
    size_t room;                  /* bytes of more */
    _Alignas(void *) char more[]; /* arrays of views, packed ones, blocks */
};

void hud_requests_init(struct hud_context *context, bool threads);
void hud_requests_destroy(struct hud_context *context);

/* copies.c: how many bytes hud_request.more needs; the copy. */
size_t hud_request_room(const struct hud_team *team, const struct hud_args *args);
void hud_request_copy(struct hud_request *request, const struct hud_args *args);

/* call.c: the call on that strand; or one that is left to the host, for lack of a setting or of a
 * set-up that does not wait. */
int hud_request_carry_out(struct hud_team *team, const struct hud_args *args,
                          struct strand *strand);
int hud_request_decline(struct hud_team *team, const struct hud_args *args);

/* call.c: whether it is known, alike on all members, that such a request is not passed. */
bool hud_request_settled(const struct hud_team *team, const struct hud_args *args);

static inline bool request_is_place(int collective)
{
    return collective == HUD_PLACE || collective == HUD_PLACE_NOW || collective == HUD_PLACE_EARLY;
}

/* Whether HUDDLE_NONBLOCKING is on, which auto has become where it is the same. */
static inline bool hud_request_handled(const struct hud_team *team)
{
    return team->context->config.number[SET_NONBLOCKING] == NONBLOCKING_ON;
}

/* Where the team is ready: its waits suspend the strand. */
void hud_request_attach(struct hud_team *team, struct strand *strand);

/* For lane.early and lane.emptied. */
struct lane_task *hud_request_early(struct lane *lane);
void hud_request_emptied(struct lane *lane);

/* For mem_policy.progress: the requests of the context, then the host. */
void hud_request_progress(void *context);

#endif
