/* SPDX-License-Identifier: BSD-3-Clause */
/* fallback.c - see fallback.h; and the public calls about collectives that huddle does not make. */
#include "core/call/fallback.h"
#include "core/call/core_request.h"
#include "core/call/setup.h"
#include "core/call/suspend.h"
#include "core/config/log.h"
#include "core/span/span_learn.h"
#include "core/watch/check.h"
#include "core/watch/longwait.h"
#include "mem/kept_errno.h"

static _Thread_local int reason;

void hud_fallback_record(enum reason why)
{
    reason = (int)why;
}

int *hud_reason_here(void)
{
    return &reason;
}

void hud_fallback_report_order(struct hud_team *team, enum coll_kind kind, enum reason why)
{
    static const char *const helps[REASON_COUNT] = {
        [REASON_LEASE] = "; to avoid this: increase HUDDLE_MEMORY",
        [REASON_REFUSED] =
            "; to avoid this: increase HUDDLE_MEMORY and HUDDLE_LEASE, or select another algorithm",
        [REASON_FORCED] = "; to avoid this: remove the setting that selects the MPI's own",
        [REASON_EARLY] = "; to avoid this: HUDDLE_FIRST=1"
    };
    struct hud_context *c = team->context;

    if (c->config.number[SET_REDUCE_ORDER] != ORDER_FIXED || !coll_has((int)kind, COLL_REDUCES) ||
        why == REASON_ONE_RANK)
        return;
    if (hud_context_first(c, &c->reported.order) && team->id.rank == 0)
        hud_log(&c->config, LOG_WARN,
                "HUDDLE_REDUCE_ORDER=fixed does not hold for this %s of %d ranks, which %s carries "
                "out: %s%s",
                coll_name((int)kind), team->id.size, c->id.owner, hud_reason_text[why],
                helps[why] ? helps[why] : "");
}

/* Returns whether a call that has fallen back is a trial of the MPI's own collective. */
static bool tries_mpi(const struct hud_team *team, int at)
{
    return team->hooks.learn && hud_learn_present(team, at)->slot >= 0;
}

enum reason hud_fallback_reason(const struct hud_team *team, int at)
{
    const struct plan_cell *cell = plan_cell_at(team->plan.shared, at);

    return cell->candidate[0] == PLAN_NOTHING ? REASON_REFUSED
           : cell->candidate[0] == PLAN_MPI   ? REASON_FORCED
           : tries_mpi(team, at)              ? REASON_TRIED
                                              : REASON_FASTER;
}

void hud_fallback_precede(struct hud_team *team, struct fiber_task *task)
{
    if (task) {
        if (team->state.now <= TEAM_EARLY)
            hud_setup_run(team, task);
        hud_suspend_attach(team, task);
        return;
    }
    KEEP_ERRNO();
    hud_team_flush(team);
    if (team->state.now <= TEAM_EARLY)
        hud_setup_run(team, NULL);
    team->state.pending = team->state.now <= TEAM_EARLY;
}

/* Fails a call that has not begun. */
static int fail_pending(struct hud_team *team, int status)
{
    if (team->hooks.check)
        hud_check_exit(team);
    return hud_longwait_abandon_early(team, status);
}

int hud_fallback_disagree(struct hud_team *team, enum coll_kind kind, size_t bytes, int status)
{
    if (status == HUD_ERR_FAILED || !hud_longwait_is_given_up(team))
        return fail_pending(team, status);
    if (team->hooks.check)
        hud_check_exit(team);
    hud_longwait_abandon(team, status);
    int decided = hud_realign(team);
    if (decided != HUD_PASS)
        return decided == HUD_ERR_FAILED ? decided : status;
    hud_fallback_record(REASON_BROKEN);
    fallback_publish(team, kind, bytes);
    hud_fallback_report_order(team, kind, REASON_BROKEN);
    return HUD_PASS;
}

int hud_fallback_check(struct hud_team *team, const struct hud_announced *call, bool is_fixed)
{
    int status = hud_check_enter(team, call);

    if (status == HUD_OK || status == HUD_PASS)
        return status;
    if (!is_fixed)
        return fail_pending(team, status);
    hud_check_exit(team);
    hud_longwait_abandon(team, status);
    return status == HUD_ERR_FAILED ? status : HUD_OK;
}

int hud_fallback_realign(struct hud_team *team, enum coll_kind kind, const struct coll *call,
                         int at)
{
    hud_longwait_join(team);
    if (team->state.now != TEAM_ENDING || fallback_is_fixed(team, call, at))
        return HUD_PASS;
    int status = hud_realign(team);
    if (status != HUD_PASS)
        context_count_call(team->context, kind, call->bytes, REASON_BROKEN);
    return status;
}

/* ---- calls that huddle does not make ---- */

int hud_team_fail(hud_team *team)
{
    char name[64];

    if (team->state.pending)
        hud_fallback_precede(team, NULL);
    if (team->hooks.span)
        return hud_span_give_up(team, HUD_ERR_MEMORY);
    if (team->state.now == TEAM_ENDING) {
        /* The other ranks must find this call. */
        member_count_unslotted(team->shm.mine);
        return HUD_ERR_MEMORY;
    }
    if (team->state.now != TEAM_READY)
        return HUD_PASS;
    hud_longwait_name(team, name, sizeof name);
    if (hud_longwait_claim_report(team))
        hud_log(&team->context->config, LOG_ERROR,
                "rank %d of %s (%d ranks) is out of memory for its call; the call fails, and later "
                "calls fall back to %s",
                team->id.rank, name, team->id.size, team->context->id.owner);
    return hud_longwait_abandon_early(team, HUD_ERR_MEMORY);
}

int hud_request_fail(hud_team *team)
{
    if (!hud_request_handled(team))
        return HUD_PASS;
    if (team->state.pending)
        hud_fallback_precede(team, NULL);
    return team->hooks.span ? HUD_PASS : hud_team_fail(team);
}

/* Returns whether a call that huddle does not handle sets up a new team, too.  All members must
 * agree before they communicate, so the answer rests on shared facts: on the name under which
 * members are announced, never on a rank's other settings.  A rank with a bad setting, or switched
 * off, takes part in the set-up and reports its setting there.  Without such a name, the team
 * begins with a call for huddle. */
static bool begins_with_any_call(const struct hud_team *team)
{
    return team->hooks.exchange.world_rank ? team->context->id.announced_checks
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
        fallback_publish(team, (enum coll_kind)kind, call->bytes);
        context_count_call(team->context, (enum coll_kind)kind, call->bytes, REASON_OPERATION);
        hud_fallback_record(REASON_OPERATION);
        hud_fallback_report_order(team, (enum coll_kind)kind, REASON_OPERATION);
    }
    if (team->state.now == TEAM_NEW && call->bytes != 0 && begins_with_any_call(team))
        hud_setup_run(team, NULL);
    if (!team->hooks.check || team->state.now != TEAM_READY)
        return HUD_OK;
    int status = hud_fallback_check(team, call, true);
    return status == HUD_PASS ? HUD_OK : status;
}

void hud_team_exit(hud_team *team)
{
    if (team)
        learn_exit(team);
    if (team && team->hooks.span)
        hud_span_exit(team);
    if (team && team->hooks.check)
        hud_check_exit(team);
}
