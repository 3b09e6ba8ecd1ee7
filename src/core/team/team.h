/* SPDX-License-Identifier: BSD-3-Clause */
/* team.h - an ordered set of ranks and what they share: a slice of each member's arena. */
#ifndef HUD_TEAM_H
#define HUD_TEAM_H

#include "core/choose/plan.h"
#include "core/team/context.h"
#include "request/lanes.h"

enum team_state {
    TEAM_NEW,
    TEAM_EARLY,
    TEAM_READY,
    TEAM_REFUSED,
    TEAM_BROKEN /* was READY: an error ended its calls */
};

struct span;

struct hud_team {
    struct hud_context *context;
    struct hud_exchange exchange;
    int rank, size;
    enum team_state state;
    enum { PRESENCE_UNKNOWN, PRESENCE_ALL, PRESENCE_SOME } presence;
    bool before; /* its set-up, or requests, may come before the next blocking call; of the
                           thread that makes the calls */
    struct plan_only only; /* its calls, where they are all alike */
    bool too_large;        /* and their elements are larger than huddle takes */
    bool declined;         /* hud_team_decline was called */
    long calls;            /* so far, while it is new or early */
    enum reason reason;    /* TEAM_EARLY, TEAM_REFUSED, TEAM_BROKEN: why, the same on all ranks */
    /* TEAM_READY, TEAM_BROKEN: */
    struct mem mem; /* of a call that has not begun */
    struct mem_policy policy;
    struct mem_team mem_team;
    struct lines_cell lines[LINES_CELLS];
    char **slices;              /* [size] where this process maps them */
    struct mem_peer *peers;     /* [size] */
    struct mem_mapped **mapped; /* [size] the peers'; see hud_peers_direct */
    struct team_process {
        int pid;          /* in this process's PID namespace; 0: not known here */
        uint64_t started; /* hud_process_started, as this process reads it; 0: not read yet */
        bool ended;
    } * process;      /* [size] of the members */
    void *carried[2]; /* arrays of an exchange that failed: messages of it may still read them */
    int asked;        /* the member at which the next check of processes in a long wait begins */
    uint64_t number;  /* of the team, the same on all members */
    size_t offset, bytes;      /* of this rank's slice in its arena */
    const struct plan *plan;   /* the context's; equal teams share one */
    struct member_state *mine; /* in its own slice: the data that this member publishes */
    /* Of the call that is running, or ran last: */
    const struct plan_entry *entry;
    const struct coll *call;
    size_t last_bytes; /* its bytes, for the waits of the call after it */
    struct shape_groups groups;
    size_t cache_bytes; /* a rank's share of the largest cache that ranks share, 0: not known */
    int levels;         /* of place_name */
    char place_name[SHAPE_LEVELS]
                   [TOPO_NAME]; /* levels of the memory hierarchy that the groups were built from */
    struct check *check;        /* check.h; NULL: calls are not checked */
    struct adapt *adapt;        /* adapt.h; NULL: algorithms are not tried */
    struct span *span; /* span.h: of a team that is refused as it spans nodes; NULL: it has none */
    bool apart;        /* one of the two is there: the only question of both on the fast path */
    bool timed;        /* as the context's */
    /* Requests (request.c): */
    struct lane lane;
    struct lane_task *settled; /* the last of those at its head that will not be passed, or NULL */
    int early;                 /* places in it that do not wait for their turn */
    unsigned polls;            /* of the policy, for a blocking call */
    bool freed;                /* by its owner; under the lanes' lock */
    bool ended;   /* and what it had is released; under the pool's lock, as the next one */
    int requests; /* that have not been freed */
    void (*kernel)(const struct hud_op *op, void *dst, const void *const *src, int sources,
                   size_t elements); /* that is known to be huddle's own */
};

/* The data that a member publishes about itself. */
static inline struct member_state *team_member(const struct hud_team *team, int rank)
{
    return (struct member_state *)(void *)(team->slices[rank] + MEMBER_OFFSET);
}

/* Whether all members use huddle on this node, or it cannot be known.  Local; looked up once; the
 * same on every rank. */
bool hud_team_is_present(struct hud_team *team);

/*
 * The two rounds of a team's set-up (setup.c).  Collective over the team.  On a strand it does not
 * wait; otherwise NULL.  Leaves the team READY or
 * REFUSED, or EARLY: to be called again at its next collective; the same on every rank.
 */
void hud_team_setup(struct hud_team *team, struct strand *strand);

/* Releases the resources of a READY team; its slice is left, not freed.  Local. */
void hud_team_leave(struct hud_team *team);
/* Releases all of a team that was freed and has no request in flight; the rest of it once the last
 * request has been freed.  Under the lanes' lock. */
void hud_team_end(struct hud_team *team);
void hud_team_drop(struct hud_team *team);

#endif
