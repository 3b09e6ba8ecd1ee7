/* SPDX-License-Identifier: BSD-3-Clause */
/* team.c - a team: created, given up before its first collective, freed. */
#include "core/check/check.h"
#include "core/kept.h"
#include "core/team/adapt.h"
#include "core/team/requests.h"
#include "core/team/span.h"
#include "mem/kept_errno.h"

#include <stdlib.h>
#include <unistd.h>

enum { KEPT_TEAMS = 16 };
KEPT(kept_teams, struct hud_team, KEPT_TEAMS);

int hud_team_create(hud_context *context, const struct hud_exchange *exchange, hud_team **out)
{
    struct hud_team *team;

    if (!out)
        return HUD_ERR_ARGUMENT;
    *out = NULL;
    if (!context || !exchange || !exchange->rank || !exchange->size ||
        !exchange->start_allgather != !exchange->test_allgather ||
        (!exchange->allgather && !exchange->start_allgather))
        return HUD_ERR_ARGUMENT;
    team = calloc(1, sizeof *team);
    if (!team && (team = kept_take(&kept_teams)) == NULL)
        return HUD_ERR_MEMORY;
    team->context = context;
    team->exchange = *exchange;
    team->rank = exchange->rank(exchange->arg);
    team->size = exchange->size(exchange->arg);
    team->before = true;
    team->lane.early = hud_request_early;
    team->lane.emptied = hud_request_emptied;
    *out = team;
    return HUD_OK;
}

void hud_team_decline(hud_team *team)
{
    if (team)
        team->declined = true;
}

void hud_team_end(struct hud_team *team)
{
    struct lanes *lanes = &team->context->lanes;

    KEEP_ERRNO();
    hud_check_free(team);
    if (team->state == TEAM_READY || team->state == TEAM_BROKEN)
        hud_team_leave(team);
    hud_span_end(team);
    hud_shape_groups_free(&team->groups);
    free(team->slices);
    free(team->peers);
    free(team->mapped);
    free(team->process);
    free(team->carried[0]);
    free(team->carried[1]);
    hud_adapt_free(team);
    if (team->exchange.released)
        team->exchange.released(team->exchange.arg);
    hud_strands_lock(&lanes->pool);
    team->ended = true;
    bool unused = team->requests == 0;
    hud_strands_unlock(&lanes->pool);
    if (unused)
        hud_team_drop(team);
}

void hud_team_drop(struct hud_team *team)
{
    kept_free(&kept_teams, team);
}

void hud_team_free(hud_team *team)
{
    if (!team || team->context->pid != getpid())
        return;
    struct lanes *lanes = &team->context->lanes;
    hud_lanes_lock(lanes);
    team->freed = true;
    if (!team->lane.first && !team->lane.ender)
        hud_team_end(team);
    hud_lanes_unlock(lanes);
}
