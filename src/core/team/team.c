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

/* Returns how many bytes from the start of each slice may not be zeros: up to the end of the last
 * slot of which a call was made.  Returns the whole slice if calls have failed, or a span has its
 * own slots. */
static size_t used_bytes(const struct hud_team *team)
{
    const struct plan *plan = team->plan.shared;

    if (team->state.now != TEAM_READY || !plan)
        return team->shm.bytes;
    size_t used = plan->slots_offset;
    for (int s = 0; s < plan->slots; s++) {
        const struct alg_place *place = &plan->slot[s].place;
        size_t slot_end = place->slot_offset + place->slot_bytes,
               window_end = place->window_offset + place->window_bytes,
               end = slot_end > window_end ? slot_end : window_end;
        if (end > used && mem_count_read(&team->shm.mine->calls[s]) != 0)
            used = end;
    }
    return used;
}

void hud_team_leave(struct hud_team *team)
{
    struct hud_context *c = team->context;
    size_t used = used_bytes(team);

    hud_team_mark_left(team);
    hud_shm_team_leave(&team->shm.mem, used);
    pthread_mutex_lock(&c->lock);
    hud_arena_leave(&c->memory.arena, team->shm.offset, used, team->id.size);
    pthread_mutex_unlock(&c->lock);
    hud_context_drop(c, team->plan.shared);
}
