/* SPDX-License-Identifier: BSD-3-Clause */
/* team.c - whether a team's members are there, and how one leaves it. */
#include "core/team/team.h"
#include "core/job/presence_of_team.h"

bool hud_team_is_present(struct hud_team *team)
{
    if (team->state.presence == PRESENCE_UNKNOWN) {
        const struct presence_of_team members = { team->context, &team->hooks.exchange,
                                                  team->id.rank, team->id.size };
        team->state.presence = hud_presence_is_full(&members) ? PRESENCE_ALL : PRESENCE_SOME;
    }
    return team->state.presence == PRESENCE_ALL;
}

void hud_team_mark_left(struct hud_team *team)
{
    mem_count_step(&team_member(team, team->id.rank)->left);
}

void hud_team_leave(struct hud_team *team)
{
    struct hud_context *c = team->context;

    hud_team_mark_left(team);
    hud_shm_team_leave(&team->shm.mem);
    pthread_mutex_lock(&c->lock);
    hud_arena_leave(&c->arena, team->shm.offset, team->id.size);
    pthread_mutex_unlock(&c->lock);
    hud_context_drop(c, team->plan.shared);
}
