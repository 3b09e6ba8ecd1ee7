/* SPDX-License-Identifier: BSD-3-Clause */
/* team.h - an ordered set of ranks and what they share: a slice of each member's arena. */
#ifndef HUD_TEAM_H
#define HUD_TEAM_H

#include "core/choose/plan.h"
#include "core/team/context.h"

enum team_state {
    TEAM_NEW,
    TEAM_EARLY,
    TEAM_READY,
    TEAM_REFUSED,
    TEAM_BROKEN /* was READY: an error ended its calls */
};

struct hud_team {
    struct hud_context *context;
    struct hud_exchange exchange;
    int rank, size;
    enum team_state state;
    enum { PRESENCE_UNKNOWN, PRESENCE_ALL, PRESENCE_SOME } presence;
    bool declined;      /* the caller has no memory for its calls */
    long calls;         /* so far, while it is new or early */
    enum reason reason; /* TEAM_EARLY, TEAM_REFUSED, TEAM_BROKEN: why, the same on all ranks */
    /* TEAM_READY, TEAM_BROKEN: */
    struct mem mem; /* of a call that has not begun */
    struct mem_policy policy;
    struct mem_team mem_team;
    char **slices; /* [size] where this process maps them */
    int *pids;     /* [size] */
    struct team_process {
        int pid;          /* in this process's PID namespace; 0: not known here */
        uint64_t started; /* hud_process_started, as this process reads it; 0: not read yet */
        bool ended;
    } * process;     /* [size] of the members */
    int asked;       /* from which member on the next look at a long wait asks about processes */
    uint64_t number; /* names the team, alike on all members */
    size_t offset, bytes;      /* of this rank's slice in its arena */
    const struct plan *plan;   /* the context's: teams alike share one */
    struct member_state *mine; /* in its own slice: what this member publishes of itself */
    /* Of the call that is running, or ran last: */
    const struct plan_entry *entry;
    const struct coll *call;
    struct shape_groups groups;
    size_t cache_bytes; /* a rank's share of the largest cache that ranks share, 0: not known */
    int levels;         /* of place_name */
    char place_name[SHAPE_LEVELS]
                   [TOPO_NAME]; /* levels of the memory hierarchy that the groups were built from */
    struct check *check;        /* check.h; NULL: calls are not checked */
};

/* What a member publishes of itself. */
static inline struct member_state *team_member(const struct hud_team *team, int rank)
{
    return (struct member_state *)(void *)(team->slices[rank] + MEMBER_OFFSET);
}

/* All members use huddle on this node, or nobody can tell.  Local; looked up once: the same on
 * every rank. */
bool hud_team_is_present(struct hud_team *team);

/*
 * The two rounds of a team's set-up (setup.c).  Collective over the team.  Leaves the team READY or
 * REFUSED, or EARLY: to be called again at its next collective; the same on every rank.
 */
void hud_team_setup(struct hud_team *team);

/* Undoes what a READY team holds; its slice is left, not freed.  Local. */
void hud_team_leave(struct hud_team *team);

#endif
