/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * single_call.c - a single-call team, which makes the same call again and again.  Each persistent
 * request has such a team, so that the requests of a communicator may be started in any order.
 *
 * The team is set up before its first call, when all members create the request.  HUDDLE_FIRST is
 * ignored: it is for communicators that make only a few calls.
 */
#include "core/call/args.h"
#include "core/call/core_request.h"
#include "core/call/fallback.h"

static bool is_valid(const struct hud_team *team, const struct hud_args *a)
{
    return a->collective >= 0 && a->collective < COLL_KINDS &&
           args_valid(hud_collectives[a->collective].flags, team, a);
}

int hud_team_create_for(hud_context *context, const struct hud_exchange *exchange,
                        const struct hud_args *args, hud_team **out)
{
    int status = args ? hud_team_create(context, exchange, out) : HUD_ERR_ARGUMENT;

    if (status != HUD_OK) {
        if (out)
            *out = NULL;
        return status;
    }
    struct hud_team *team = *out;
    if (!is_valid(team, args)) {
        hud_team_free(team);
        *out = NULL;
        return HUD_ERR_ARGUMENT;
    }
    unsigned flags = hud_collectives[args->collective].flags;
    const struct hud_op *op = flags & COLL_REDUCES ? args->op : NULL;
    enum coll_kind kind = (enum coll_kind)args->collective;
    team->plan.single_call = (struct plan_single_call){ .enabled = true,
                                                        .axis = plan_axis(kind, op),
                                                        .bytes = args_bytes(flags, team, args) };
    team->plan.too_large = op && op->element_bytes > HUD_ELEMENT_MAX;
    return HUD_OK;
}

/* Returns why the calls of a single-call team are not handled, or REASON_NONE. */
static enum reason missing(const struct hud_team *team)
{
    const struct plan_single_call *only = &team->plan.single_call;

    if (team->state.now != TEAM_READY)
        return team->state.reason;
    if (!hud_request_handled(team))
        return REASON_NONBLOCKING;
    if (team->plan.too_large)
        return REASON_ELEMENT;
    return plan_find(team->plan.shared, only->axis, only->bytes)->slot >= 0
               ? REASON_NONE
               : hud_fallback_reason(team, plan_at(only->axis, only->bytes));
}

int hud_team_set_up(hud_team *team)
{
    if (!team)
        return HUD_ERR_ARGUMENT;
    team->state.calls = team->context->config.number[SET_FIRST];
    if (team->state.pending)
        hud_fallback_precede(team, NULL);
    if (!team->plan.single_call.enabled)
        return team->state.now == TEAM_READY ? HUD_OK : HUD_PASS;
    enum reason why = missing(team);
    if (why == REASON_NONE)
        return HUD_OK;
    enum coll_kind kind = (enum coll_kind)(team->plan.single_call.axis % COLL_KINDS);
    context_count_call(team->context, kind, team->plan.single_call.bytes, why);
    hud_fallback_report_order(team, kind, why);
    return HUD_PASS;
}
