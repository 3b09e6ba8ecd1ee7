/* SPDX-License-Identifier: BSD-3-Clause */
/* around.c - see around.h; and the public calls about collectives that huddle does not make. */
#include "core/team/around.h"
#include "core/check/check.h"
#include "core/config/log.h"
#include "core/team/longwait.h"
#include "core/team/requests.h"
#include "core/team/span.h"
#include "mem/kept_errno.h"

static _Thread_local int reason;

void hud_around_tell(enum reason why)
{
    reason = (int)why;
}

int *hud_reason_here(void)
{
    return &reason;
}

void hud_around_report_order(struct hud_team *team, enum coll_kind kind, enum reason why)
{
    static const char *const helps[REASON_COUNT] = {
        [REASON_LEASE] = "; to avoid that: more HUDDLE_MEMORY",
        [REASON_REFUSED] =
            "; to avoid that: more HUDDLE_MEMORY and HUDDLE_LEASE, or another algorithm",
        [REASON_FORCED] = "; to avoid that: no setting or tuning file that selects the MPI's own",
        [REASON_EARLY] = "; to avoid that: HUDDLE_FIRST=1"
    };
    struct hud_context *c = team->context;

    if (c->config.number[SET_REDUCE_ORDER] != ORDER_FIXED || !coll_has((int)kind, COLL_REDUCES) ||
        why == REASON_ONE_RANK)
        return;
    if (hud_context_first(c, &c->said_order) && team->rank == 0)
        hud_log(&c->config, LOG_WARN,
                "HUDDLE_REDUCE_ORDER=fixed does not hold for this %s of %d ranks, which %s carries "
                "out: %s%s",
                coll_name((int)kind), team->size, c->owner, hud_reason_text[why],
                helps[why] ? helps[why] : "");
}

enum reason hud_around_unhandled(const struct hud_team *team, enum coll_kind kind,
                                 const struct plan_entry *entry)
{
    bool wished = hud_config_forced(&team->context->config, (int)kind) == FORCED_MPI ||
                  (entry->rule && entry->rule->row < 0);

    return wished ? REASON_FORCED : REASON_REFUSED;
}

void hud_around_precede(struct hud_team *team, struct strand *strand)
{
    if (strand) {
        if (team->state <= TEAM_EARLY)
            hud_team_setup(team, strand);
        hud_request_attach(team, strand);
        return;
    }
    KEEP_ERRNO();
    hud_team_flush(team);
    if (team->state <= TEAM_EARLY)
        hud_team_setup(team, NULL);
    team->before = team->state <= TEAM_EARLY;
}

int hud_around_give_up(struct hud_team *team, int status)
{
    hud_longwait_give_up(team, status);
    team->state = TEAM_BROKEN;
    team->reason = REASON_BROKEN;
    return status;
}

int hud_around_fail_before(struct hud_team *team, int status)
{
    if (team->check)
        hud_check_exit(team);
    return hud_around_give_up(team, status);
}

/* ---- calls that huddle does not make ---- */

int hud_team_fail(hud_team *team)
{
    char name[64];

    if (team->before)
        hud_around_precede(team, NULL);
    if (team->span)
        return hud_span_give_up(team, HUD_ERR_MEMORY);
    if (team->state != TEAM_READY)
        return HUD_PASS;
    hud_longwait_name(team, name, sizeof name);
    if (hud_longwait_says(team))
        hud_log(&team->context->config, LOG_ERROR,
                "rank %d of %s (%d ranks) is out of memory for its call; the call fails, later "
                "ones are %s's own",
                team->rank, name, team->size, team->context->owner);
    return hud_around_give_up(team, HUD_ERR_MEMORY);
}

int hud_request_fail(hud_team *team)
{
    if (!hud_request_handled(team))
        return HUD_PASS;
    if (team->before)
        hud_around_precede(team, NULL);
    return team->span ? HUD_PASS : hud_team_fail(team);
}

/*
 * Calls that huddle does not handle set a new team up too. All members must agree on that
 * before they communicate, so it rests on what they share: on the name that they are announced
 * under, never on what a rank makes of its other settings.  One with a bad setting, or switched
 * off, comes and reports it. Where there is no such name, the team begins with a call that huddle
 * handles.
 */
static bool begins_with_any_call(const struct hud_team *team)
{
    return team->exchange.world_rank ? team->context->announced_checks
                                     : team->context->config.number[SET_CHECK] == SWITCH_ON;
}

int hud_team_enter(hud_team *team, const struct hud_announced *call)
{
    if (!team || !call || !call->name)
        return HUD_ERR_ARGUMENT;
    KEEP_ERRNO();
    hud_team_flush(team);
    int kind = hud_coll_kind(call->unasked ? call->unasked : call->name);
    if (kind >= 0 && call->bytes != 0 && call->bytes != HUD_ANY_BYTES) {
        around_fall_back(team, (enum coll_kind)kind, call->bytes);
        around_count(team, (enum coll_kind)kind, call->bytes, REASON_OPERATION);
        hud_around_tell(REASON_OPERATION);
        hud_around_report_order(team, (enum coll_kind)kind, REASON_OPERATION);
    }
    if (team->state == TEAM_NEW && call->bytes != 0 && begins_with_any_call(team))
        hud_team_setup(team, NULL);
    if (!team->check || team->state != TEAM_READY)
        return HUD_OK;
    int status = hud_check_enter(team, call);
    return status == HUD_OK || status == HUD_PASS ? HUD_OK : hud_around_fail_before(team, status);
}

void hud_team_exit(hud_team *team)
{
    if (team && team->check)
        hud_check_exit(team);
}
