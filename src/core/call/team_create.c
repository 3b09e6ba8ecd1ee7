/* SPDX-License-Identifier: BSD-3-Clause */
/* team_create.c - a team: created, given up before its first collective, freed. */
#include "core/call/team_create.h"
#include "base/emergency_pool.h"
#include "core/call/learn.h"
#include "core/span/span.h"
#include "core/watch/check.h"
#include "mem/kept_errno.h"

#include <stdlib.h>
#include <unistd.h>

enum { KEPT_TEAMS = 16 };
EMERGENCY_POOL(kept_teams, struct hud_team, KEPT_TEAMS);

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
    team = aligned_alloc(_Alignof(struct hud_team), sizeof *team);
    if (!team && (team = emergency_take(&kept_teams)) == NULL)
        return HUD_ERR_MEMORY;
    memset(team, 0, sizeof *team);
    team->context = context;
    team->hooks.exchange = *exchange;
    team->id.rank = exchange->rank(exchange->arg);
    team->id.size = exchange->size(exchange->arg);
    team->state.pending = true;
    team->queue.calls.emptied = hud_team_emptied;
    *out = team;
    return HUD_OK;
}

void hud_team_decline(hud_team *team)
{
    if (team)
        team->state.declined = true;
}

void hud_team_end(struct hud_team *team)
{
    struct call_queues *queues = &team->context->calls.queues;

    KEEP_ERRNO();
    hud_check_free(team);
    hud_learn_free(team); /* it needs the plan */
    if (team_counts(team) || team->state.now == TEAM_BROKEN)
        hud_team_leave(team);
    hud_span_end(team);
    hud_shape_groups_free(&team->places.groups);
    free(team->shm.slices);
    free(team->peers.direct);
    free(team->peers.mapped);
    free(team->peers.process);
    free(team->peers.carried[0]);
    free(team->peers.carried[1]);
    if (team->hooks.exchange.released)
        team->hooks.exchange.released(team->hooks.exchange.arg);
    fiber_pool_lock(&queues->pool);
    team->queue.ended = true;
    bool unused = team->queue.requests == 0;
    fiber_pool_unlock(&queues->pool);
    if (unused)
        hud_team_drop(team);
}

void hud_team_drop(struct hud_team *team)
{
    emergency_free(&kept_teams, team);
}

void hud_team_emptied(struct call_queue *queue)
{
    struct hud_team *team = team_of_queue(queue);

    if (team->queue.freed)
        hud_team_end(team);
}

void hud_team_free(hud_team *team)
{
    if (!team || team->context->id.pid != getpid())
        return;
    struct call_queues *queues = &team->context->calls.queues;
    hud_call_queues_lock(queues);
    team->queue.freed = true;
    if (!team->queue.calls.first && !team->queue.calls.ender)
        hud_team_end(team);
    hud_call_queues_unlock(queues);
}
