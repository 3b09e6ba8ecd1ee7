/* SPDX-License-Identifier: BSD-3-Clause */
/* request.c - the public calls on requests, and what a strand needs of a team (requests.h). */
#include "core/check/check.h"
#include "core/team/args.h"
#include "core/team/guard.h"
#include "core/team/requests.h"
#include "mem/kept_errno.h"

#include <stdlib.h>

/* ---- a call on a strand ---- */

/* In its wait: another thread may go on with it. */
static void suspend(struct mem_wait *wait, void *strand)
{
    int status = hud_strand_wait(strand, wait);

    if (status != 0)
        hud_guard_leave(status);
}

static void let_suspend(struct mem_policy *policy, struct strand *strand)
{
    policy->suspend = strand ? suspend : NULL;
    policy->suspend_arg = strand;
}

void hud_request_attach(struct hud_team *team, struct strand *strand)
{
    if (team->state != TEAM_READY)
        return;
    team->lane.policy = &team->policy;
    team->lane.polls = team->polls;
    let_suspend(&team->policy, strand);
    if (team->check)
        let_suspend(&team->check->policy, strand);
}

static void detach(struct hud_team *team)
{
    if (!team->lane.policy)
        return;
    team->policy.polls = team->polls;
    let_suspend(&team->policy, NULL);
    if (team->check)
        let_suspend(&team->check->policy, NULL);
}

static void run(struct lane_task *task, struct strand *strand)
{
    struct hud_request *r = (struct hud_request *)task;

    r->strand = strand;
    r->status = HUD_PASS;
    r->team->early -= r->args.collective == HUD_PLACE_EARLY;
    if (request_is_place(r->args.collective))
        return;
    r->status = hud_request_carry_out(r->team, &r->args, strand);
    detach(r->team);
    if (r->team->settled == task)
        r->team->settled = NULL;
    if (r->status == HUD_PASS)
        hud_team_exit(r->team);
}

static void over(struct lane_task *task)
{
    struct hud_request *r = (struct hud_request *)task;

    if (r->status == HUD_PASS && r->passed.start)
        r->passed.start(r->passed.arg);
}

struct looking {
    struct mem_wait *wait;
    bool over;
};

static void look(void *arg)
{
    struct looking *l = arg;

    KEEP_ERRNO();
    hud_mem_wait_show(l->wait, l->over);
}

/* At a long wait, on the caller's stack. */
static int look_at(struct mem_wait *wait, bool wait_over)
{
    return hud_guard_call(look, &(struct looking){ wait, wait_over });
}

void hud_request_progress(void *context)
{
    struct hud_context *c = context;

    hud_lanes_advance(&c->lanes);
    if (!c->host.progress)
        return;
    KEEP_ERRNO();
    mem_count(&c->lanes.waits, 1, c->lanes.threads);
    c->host.progress(c->host.arg);
    mem_count(&c->lanes.waits, (uint64_t)-1, c->lanes.threads);
}

/* ---- life ---- */

void hud_requests_init(struct hud_context *c, bool threads)
{
    hud_lanes_init(&c->lanes, threads);
    c->lanes.look = look_at;
    c->lanes.progress = hud_request_progress;
    c->lanes.arg = c;
}

/* Out of the list that it is in. */
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

/* Under the pool's lock; with room for the arrays of the arguments. */
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

/* The first of a team's needs a strand. */
static struct hud_request *enlist(struct hud_team *team, size_t room)
{
    struct hud_context *c = team->context;
    struct hud_request *r = NULL;

    hud_strands_lock(&c->lanes.pool);
    if (team->requests != 0 || hud_strands_reserve(&c->lanes.pool)) {
        r = obtain(&c->pool, room);
        if (r)
            link_request(&c->pool.all, r);
        if (r)
            team->requests++;
        else if (team->requests == 0)
            hud_strands_release(&c->lanes.pool);
    }
    hud_strands_unlock(&c->lanes.pool);
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
    r->task.run = run;
    r->task.over = over;
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
    hud_strands_lock(&c->lanes.pool);
    unlink_request(&c->pool.all, r);
    link_request(&c->pool.spare, r);
    bool last = --team->requests == 0;
    if (last)
        hud_strands_release(&c->lanes.pool);
    bool unused = last && team->ended;
    hud_strands_unlock(&c->lanes.pool);
    if (unused)
        hud_team_drop(team);
}

static struct hud_team *team_of(struct lane *lane)
{
    return (struct hud_team *)(void *)((char *)lane - offsetof(struct hud_team, lane));
}

void hud_request_emptied(struct lane *lane)
{
    struct hud_team *team = team_of(lane);

    if (team->freed)
        hud_team_end(team);
}

void hud_requests_destroy(struct hud_context *c)
{
    struct lane *lane;

    while ((lane = c->lanes.first) != NULL) {
        hud_lanes_drop(&c->lanes, lane);
        hud_request_emptied(lane);
    }
    while (c->pool.all) {
        struct hud_team *team = c->pool.all->team;
        if (team->only.is && !team->freed)
            hud_team_free(team);
        hud_request_free(c->pool.all);
    }
    while (c->pool.spare) {
        struct hud_request *r = c->pool.spare;
        unlink_request(&c->pool.spare, r);
        free(r);
    }
    hud_lanes_destroy(&c->lanes);
}

/* ---- calls ---- */

/* Known before it is started, where nothing of the team is in flight.  Alike on all members, except
 * for a team that is given up: then others find out later. */
static bool is_passed(const struct hud_request *r)
{
    const struct hud_team *team = r->team;

    return request_is_place(r->args.collective) || team->state >= TEAM_REFUSED ||
           !hud_request_handled(team) ||
           (team->state <= TEAM_EARLY && !team->exchange.start_allgather);
}

/* Counts it, too. */
static int pass(struct hud_request *r)
{
    if (request_is_place(r->args.collective))
        return HUD_PASS;
    return r->team->state >= TEAM_REFUSED && !r->team->span
               ? hud_call(r->team, &r->args)
               : hud_request_decline(r->team, &r->args);
}

/* The requests at the head of its lane of which it is known that none will be passed. */
static void settle(struct hud_team *team)
{
    struct lane_task *next = team->settled ? team->settled->next : team->lane.first;

    if (team->state != TEAM_READY) /* given up: they may be passed after all */
        team->settled = next = NULL;
    for (; next; next = next->next) {
        const struct hud_args *args = &((struct hud_request *)next)->args;
        if (request_is_place(args->collective) || !hud_request_settled(team, args))
            break;
        team->settled = next;
    }
}

/* A place that need not wait for its turn. */
static bool is_free(const struct hud_request *r)
{
    struct hud_team *team = r->team;

    if (r->args.collective == HUD_PLACE || !request_is_place(r->args.collective) ||
        team->lane.ender)
        return false;
    settle(team);
    return team->settled && team->settled == team->lane.last;
}

struct lane_task *hud_request_early(struct lane *lane)
{
    struct hud_team *team = team_of(lane);

    if (team->early == 0)
        return NULL;
    settle(team);
    struct hud_request *r = (struct hud_request *)(team->settled ? team->settled->next : NULL);
    if (!r || r->args.collective != HUD_PLACE_EARLY)
        return NULL;
    team->early--;
    r->status = HUD_PASS;
    return team->settled;
}

int hud_request_start(hud_request *r)
{
    if (!r)
        return HUD_ERR_ARGUMENT;
    struct hud_team *team = r->team;
    struct lanes *lanes = &r->context->lanes;
    hud_lanes_lock(lanes);
    bool passed = hud_lane_is_empty(lanes, &team->lane) ? is_passed(r) : is_free(r);
    r->tested = false;
    if (!passed) {
        team->before = true;
        team->early += r->args.collective == HUD_PLACE_EARLY;
        hud_lanes_start(lanes, &team->lane, &r->task);
    }
    hud_lanes_unlock(lanes);
    if (!passed)
        return HUD_OK;
    r->status = pass(r);
    return r->status == HUD_PASS ? HUD_PASS : HUD_OK;
}

int hud_request_peek(hud_request *r, int *done)
{
    if (!r || !done)
        return HUD_ERR_ARGUMENT;
    *done = lanes_is_over(&r->task);
    return *done ? r->status : HUD_OK;
}

int hud_request_test(hud_request *r, int *done)
{
    if (!r || !done)
        return HUD_ERR_ARGUMENT;
    if (!lanes_is_over(&r->task)) /* the first test belongs to the start, which goes on at once */
        (void)(r->tested ? hud_lanes_poll : hud_lanes_advance)(&r->context->lanes);
    r->tested = true;
    return hud_request_peek(r, done);
}

int hud_request_wait(hud_request *r)
{
    if (!r)
        return HUD_ERR_ARGUMENT;
    if (!lanes_is_over(&r->task))
        hud_lanes_wait(&r->context->lanes, &r->team->lane, &r->task);
    return r->status;
}

int hud_progress(hud_context *c)
{
    return c ? hud_lanes_poll(&c->lanes) : 0;
}

void hud_team_flush(hud_team *team)
{
    if (team && team->before)
        hud_lanes_wait(&team->context->lanes, &team->lane, NULL);
}
