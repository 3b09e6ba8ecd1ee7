/* SPDX-License-Identifier: BSD-3-Clause */
/* core_request.c - the public calls on requests (core_request.h). */
#include "core/call/core_request.h"
#include "core/call/args.h"
#include "core/call/suspend.h"
#include "core/call/team_create.h"

#include <stdlib.h>

/* ---- a call on a fiber ---- */

static void run(struct fiber_task *task, void *call)
{
    struct hud_request *r = call;

    r->status = HUD_PASS;
    r->team->queue.early -= r->args.collective == HUD_PLACE_EARLY;
    if (request_is_place(r->args.collective))
        return;
    r->status = hud_request_carry_out(r->team, &r->args, task);
    hud_suspend_detach(r->team);
    if (r->team->queue.settled == call)
        r->team->queue.settled = NULL;
    if (r->status == HUD_PASS)
        hud_team_exit(r->team);
}

static void over(struct queued_call *call)
{
    struct hud_request *r = (struct hud_request *)call;

    if (r->status == HUD_PASS && r->passed.start)
        r->passed.start(r->passed.arg);
}

/* Finds the requests at the head of the queue that will not be passed for certain. */
static void settle(struct hud_team *team)
{
    struct queued_call *next =
        team->queue.settled ? team->queue.settled->next : team->queue.calls.first;

    if (team->state.now != TEAM_READY) /* given up: they may be passed after all */
        team->queue.settled = next = NULL;
    for (; next; next = next->next) {
        const struct hud_args *args = &((struct hud_request *)next)->args;
        if (request_is_place(args->collective) || !hud_request_settled(team, args))
            break;
        team->queue.settled = next;
    }
}

/* Finds a place that ends now, without its turn.  Returns the call before the place, for
 * call_queue.early. */
static struct queued_call *early(struct call_queue *queue)
{
    struct hud_team *team = team_of_queue(queue);

    if (team->queue.early == 0)
        return NULL;
    settle(team);
    struct hud_request *r =
        (struct hud_request *)(team->queue.settled ? team->queue.settled->next : NULL);
    if (!r || r->args.collective != HUD_PLACE_EARLY)
        return NULL;
    team->queue.early--;
    r->status = HUD_PASS;
    return team->queue.settled;
}

/* ---- life ---- */

/* Removes a request from its list. */
static void unlink_request(struct hud_request **first, struct hud_request *r)
{
    *(r->prev ? &r->prev->next : first) = r->next;
    if (r->next)
        r->next->prev = r->prev;
}

static void link_request(struct hud_request **first, struct hud_request *r)
{
    r->prev = NULL;
    r->next = *first;
    if (r->next)
        r->next->prev = r;
    *first = r;
}

/* Obtains a request with room for the arrays of the arguments.  Called under the pool's lock. */
static struct hud_request *obtain(struct request_pool *pool, size_t room)
{
    enum { LOOKED_AT = 4 };
    struct hud_request *r = pool->spare;

    for (int i = 0; r && r->room < room; i++)
        r = i < LOOKED_AT ? r->next : NULL;
    if (r) {
        unlink_request(&pool->spare, r);
        return r;
    }
    r = calloc(1, sizeof *r + room);
    if (r)
        r->room = room;
    return r;
}

/* Obtains a request for a team.  The first request of a team needs a fiber. */
static struct hud_request *enlist(struct hud_team *team, size_t room)
{
    struct hud_context *c = team->context;
    struct hud_request *r = NULL;

    fiber_pool_lock(&c->calls.queues.pool);
    if (team->queue.requests != 0 || hud_fiber_pool_reserve(&c->calls.queues.pool)) {
        r = obtain(&c->calls.pool, room);
        if (r)
            link_request(&c->calls.pool.all, r);
        if (r)
            team->queue.requests++;
        else if (team->queue.requests == 0)
            hud_fiber_pool_release(&c->calls.queues.pool);
    }
    fiber_pool_unlock(&c->calls.queues.pool);
    return r;
}

static bool is_valid(const struct hud_team *team, const struct hud_args *a)
{
    return request_is_place(a->collective) ||
           (a->collective >= 0 && a->collective < COLL_KINDS &&
            args_valid(hud_collectives[a->collective].flags, team, a));
}

int hud_request_create(hud_team *team, const struct hud_args *args, const struct hud_passed *passed,
                       hud_request **out)
{
    if (!out)
        return HUD_ERR_ARGUMENT;
    *out = NULL;
    if (!team || !args || !is_valid(team, args))
        return HUD_ERR_ARGUMENT;
    bool place = request_is_place(args->collective);
    struct hud_request *r = enlist(team, place ? 0 : hud_request_room(team, args));
    if (!r)
        return HUD_ERR_MEMORY;
    team->queue.calls.early = early;
    r->queued.run = run;
    r->queued.over = over;
    r->team = team;
    r->context = team->context;
    r->passed = passed ? *passed : (struct hud_passed){ NULL, NULL };
    r->status = HUD_OK;
    r->args.collective = args->collective;
    if (!place)
        hud_request_copy(r, args);
    *out = r;
    return HUD_OK;
}

void hud_request_free(hud_request *r)
{
    if (!r)
        return;
    struct hud_context *c = r->context;
    struct hud_team *team = r->team;
    fiber_pool_lock(&c->calls.queues.pool);
    unlink_request(&c->calls.pool.all, r);
    link_request(&c->calls.pool.spare, r);
    bool last = --team->queue.requests == 0;
    if (last)
        hud_fiber_pool_release(&c->calls.queues.pool);
    bool unused = last && team->queue.ended;
    fiber_pool_unlock(&c->calls.queues.pool);
    if (unused)
        hud_team_drop(team);
}

void hud_requests_destroy(struct hud_context *c)
{
    struct call_queue *queue;

    while ((queue = c->calls.queues.first) != NULL) {
        hud_call_queues_drop(&c->calls.queues, queue);
        hud_team_emptied(queue);
    }
    while (c->calls.pool.all) {
        struct hud_team *team = c->calls.pool.all->team;
        if (team->plan.single_call.enabled && !team->queue.freed)
            hud_team_free(team);
        hud_request_free(c->calls.pool.all);
    }
    while (c->calls.pool.spare) {
        struct hud_request *r = c->calls.pool.spare;
        unlink_request(&c->calls.pool.spare, r);
        free(r);
    }
    hud_call_queues_destroy(&c->calls.queues);
}

/* ---- calls ---- */

/* Returns whether a request is passed for certain before its start, if nothing of the team is in
 * flight.  Alike on all members, except for a team that is given up: then others find out later. */
static bool is_passed(const struct hud_request *r)
{
    const struct hud_team *team = r->team;

    return request_is_place(r->args.collective) || team->state.now >= TEAM_REFUSED ||
           !hud_request_handled(team) ||
           (team->state.now <= TEAM_EARLY && !team->hooks.exchange.start_allgather);
}

/* Passes a request to the host, and counts the call. */
static int pass(struct hud_request *r)
{
    if (request_is_place(r->args.collective))
        return HUD_PASS;
    return r->team->state.now >= TEAM_REFUSED && !r->team->hooks.span
               ? hud_call(r->team, &r->args)
               : hud_request_decline(r->team, &r->args);
}

/* Returns whether a place need not wait for its turn. */
static bool is_free(const struct hud_request *r)
{
    struct hud_team *team = r->team;

    if (r->args.collective == HUD_PLACE || !request_is_place(r->args.collective) ||
        team->queue.calls.ender)
        return false;
    settle(team);
    return team->queue.settled && team->queue.settled == team->queue.calls.last;
}

int hud_request_start(hud_request *r)
{
    if (!r)
        return HUD_ERR_ARGUMENT;
    struct hud_team *team = r->team;
    struct call_queues *queues = &r->context->calls.queues;
    hud_call_queues_lock(queues);
    bool passed = hud_call_queue_is_empty(queues, &team->queue.calls) ? is_passed(r) : is_free(r);
    r->tested = false;
    if (!passed) {
        team->state.pending = true;
        team->queue.early += r->args.collective == HUD_PLACE_EARLY;
        hud_call_queues_start(queues, &team->queue.calls, &r->queued);
    }
    hud_call_queues_unlock(queues);
    if (!passed)
        return HUD_OK;
    r->status = pass(r);
    return r->status == HUD_PASS ? HUD_PASS : HUD_OK;
}

int hud_request_peek(hud_request *r, int *done)
{
    if (!r || !done)
        return HUD_ERR_ARGUMENT;
    *done = queued_call_is_over(&r->queued);
    return *done ? r->status : HUD_OK;
}

int hud_request_test(hud_request *r, int *done)
{
    if (!r || !done)
        return HUD_ERR_ARGUMENT;
    /* The first test belongs to the start, which goes on at once. */
    if (!queued_call_is_over(&r->queued))
        (void)(r->tested ? hud_call_queues_poll
                         : hud_call_queues_advance)(&r->context->calls.queues);
    r->tested = true;
    return hud_request_peek(r, done);
}

int hud_request_wait(hud_request *r)
{
    if (!r)
        return HUD_ERR_ARGUMENT;
    if (!queued_call_is_over(&r->queued))
        hud_call_queues_wait(&r->context->calls.queues, &r->team->queue.calls, &r->queued);
    return r->status;
}

int hud_progress(hud_context *c)
{
    return c ? hud_call_queues_poll(&c->calls.queues) : 0;
}
