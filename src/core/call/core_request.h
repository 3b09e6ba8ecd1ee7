/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * core_request.h - nonblocking and persistent calls, which run on a fiber.  The public calls on
 * requests are in core_request.c.
 */
#ifndef HUD_CORE_REQUEST_H
#define HUD_CORE_REQUEST_H

#include "core/team/team.h"

/*
 * A nonblocking or persistent call.  The lock of the queues guards it while it is in flight; the
 * pool's lock guards the lists.
 */
struct hud_request {
    struct queued_call queued;
    struct hud_team *team;
    struct hud_context *context;
    struct hud_request *prev, *next; /* neighbours in the list of open or of spare requests */
    struct hud_passed passed;
    int status;           /* status of the last call */
    bool tested;          /* the call in flight has been tested before */
    struct hud_args args; /* arguments of its calls, with the copies below */
    struct hud_op op, user_op;
    struct hud_view in, out;
    struct request_packed {
        struct hud_view user;
        struct hud_request *request;
    } packed_in, packed_out;
    size_t room;                  /* bytes of `more` */
    _Alignas(void *) char more[]; /* arrays of views, packed ones, blocks */
};

void hud_requests_destroy(struct hud_context *context);

/* Returns the bytes that hud_request.more needs (copies.c). */
size_t hud_request_room(const struct hud_team *team, const struct hud_args *args);
/* Copies the arguments into a request with that room. */
void hud_request_copy(struct hud_request *request, const struct hud_args *args);

/* Carries out the call of a request on its fiber (call.c). */
int hud_request_carry_out(struct hud_team *team, const struct hud_args *args,
                          struct fiber_task *task);
/* Counts and reports a call that falls back, because HUDDLE_NONBLOCKING is off or the host has no
 * nonblocking set-up.  Returns HUD_PASS (call.c). */
int hud_request_decline(struct hud_team *team, const struct hud_args *args);

/* Returns whether huddle will certainly carry out a request.  All members get the same answer.
 * Returns false with HUDDLE_CHECK, since a call falls back if the members' calls differ
 * (call.c). */
bool hud_request_settled(const struct hud_team *team, const struct hud_args *args);

static inline bool request_is_place(int collective)
{
    return collective == HUD_PLACE || collective == HUD_PLACE_NOW || collective == HUD_PLACE_EARLY;
}

/* Returns whether HUDDLE_NONBLOCKING is on, also by auto. */
static inline bool hud_request_handled(const struct hud_team *team)
{
    return team->context->config.number[SET_NONBLOCKING] == NONBLOCKING_ON;
}

#endif
