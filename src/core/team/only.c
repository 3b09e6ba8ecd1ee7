/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * only.c - a team whose calls are all alike: a persistent request has one of its own, so that the
 * order in which a communicator's requests are started matters to none of them.
 *
 * It is set up before its first call, by members that all come to that.  HUDDLE_FIRST is for
 * communicators of a few calls, and does not count here.
 */
#include "core/team/args.h"
#include "core/team/around.h"
#include "core/team/requests.h"

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
    team->only = (struct plan_only){ .is = true,
                                     .axis = plan_axis(kind, op && !op->commutative),
                                     .bytes = args_bytes(flags, team, args) };
    team->too_large = op && op->element_bytes > HUD_ELEMENT_MAX;
    return HUD_OK;
}

/* Why calls that are all alike are not handled; REASON_NONE: they are. */
static enum reason missing(const struct hud_team *team)
{
    const struct plan_only *only = &team->only;

    if (team->state != TEAM_READY)
        return team->reason;
    if (!hud_request_handled(team))
        return REASON_NONBLOCKING;
    if (team->too_large)
        return REASON_ELEMENT;
    const struct plan_entry *entry = plan_find(team->plan, only->axis, only->bytes);
    return entry->slot >= 0
               ? REASON_NONE
               : hud_around_unhandled(team, (enum coll_kind)(only->axis % COLL_KINDS), entry);
}

int hud_team_set_up(hud_team *team)
{
    if (!team)
        return HUD_ERR_ARGUMENT;
    team->calls = team->context->config.number[SET_FIRST];
    if (team->before)
        hud_around_precede(team, NULL);
    if (!team->only.is)
        return team->state == TEAM_READY ? HUD_OK : HUD_PASS;
    enum reason why = missing(team);
    if (why == REASON_NONE)
        return HUD_OK;
    enum coll_kind kind = (enum coll_kind)(team->only.axis % COLL_KINDS);
    around_count(team, kind, team->only.bytes, why);
    hud_around_report_order(team, kind, why);
    return HUD_PASS;
}
