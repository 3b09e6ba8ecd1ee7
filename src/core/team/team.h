/* SPDX-License-Identifier: BSD-3-Clause */
/* team.h - an ordered set of ranks and what they share: a slice of each member's arena. */
#ifndef HUD_TEAM_H
#define HUD_TEAM_H

#include "core/job/context.h"
#include "core/plan/plan.h"
#include "request/call_queue.h"

enum team_state {
    TEAM_NEW,
    TEAM_EARLY,
    TEAM_READY,
    TEAM_ENDING, /* was READY: an error ended its calls, and members may be in different calls */
    TEAM_REFUSED,
    TEAM_BROKEN /* was READY or ENDING: all calls fall back */
};

struct span;

/* hud_team.state.fast_calls in a call on the slow path, and above all other values.  The low bits
 * differ from those of 0, which the call before may have had (member_shape_of_call). */
enum { TEAM_SLOW_CALL = (1 << 20) - 1 };

/*
 * Nine fields: the context, and eight parts, each of one trade.  What a call on the fast path reads
 * comes first, in two lines.
 */
struct hud_team {
    _Alignas(HUD_LINE) struct hud_context *context;
    struct team_id {
        int rank, size;
        uint64_t number; /* the same on all members, once they share slices */
    } id;
    struct team_progress {
        enum team_state now;
        enum reason reason; /* TEAM_EARLY and after TEAM_READY: why, the same on all ranks */
        bool pending;       /* its set-up, or requests, may come before the next blocking call; of
                               the thread that makes the calls */
        int fast_calls;     /* calls left until one takes the slow path, where calls are checked and
                           measured: 0 lets the next one take it; TEAM_SLOW_CALL in such a call */
        bool timed;         /* copy of the context's `timed` */
        bool declined;      /* hud_team_decline was called */
        enum { PRESENCE_UNKNOWN, PRESENCE_ALL, PRESENCE_SOME } presence;
        long calls; /* number so far, while it is new or early */
    } state;
    struct team_plan {
        const struct plan *shared;              /* plan of the context; equal teams share a plan */
        const struct plan_entry *const *choice; /* choice of each cell: learned, or from the plan */
        const struct plan_entry *entry;         /* entry of the call that is running, or ran last */
        const struct coll *call; /* call that is running, or ran last; NULL after a call that fell
                                    back (realign.c) */
        size_t cache_bytes; /* a rank's share of the largest cache that ranks share, 0: not known */
        struct plan_single_call single_call; /* the call of a single-call team */
        bool too_large;                      /* elements of this call exceed HUD_ELEMENT_MAX */
    } plan;
    struct team_shm {              /* memory of a team that is ready, or was */
        struct member_state *mine; /* the data that this member publishes, in its own slice */
        size_t last_bytes;         /* bytes of the last call, for the waits of the call after it */
        struct mem mem;            /* handle for a call that has not begun */
        char **slices;             /* [size] where this process maps them */
        size_t offset, bytes;      /* place of this rank's slice in its arena */
        struct mem_policy policy;
        struct mem_team mem_team;
        struct lines_cell lines[LINES_CELLS];
        uint64_t in_slots; /* calls that this member has made in slots, before plan.call was NULL */
    } shm;
    struct team_places {
        struct shape_groups groups;
        int levels; /* levels of name */
        char name[SHAPE_LEVELS]
                 [TOPO_NAME]; /* levels of the memory hierarchy that the groups were built from */
    } places;
    struct team_peers {
        struct mem_peer *direct;    /* [size] */
        struct mem_mapped **mapped; /* [size] memory of the peers; see hud_peers_direct */
        struct team_process {
            int pid;          /* number in this process's PID namespace; 0: not known here */
            uint64_t started; /* hud_process_started, as this process reads it; 0: not read yet */
            bool ended;
        } * process;      /* [size] processes of the members */
        int next_checked; /* the member at which the next check of processes begins */
        void
            *carried[2]; /* arrays of an exchange that failed: messages of it may still read them */
    } peers;
    struct team_queue { /* queue of requests (call/core_request.c) */
        struct call_queue calls;
        struct queued_call
            *settled;   /* the last of the calls at the head that will surely be handled, or NULL */
        int early;      /* number of queued places that do not wait for their turn */
        unsigned polls; /* the policy's number of polls, for a blocking call */
        int requests;   /* number of requests not freed yet; under the pool's lock */
        bool freed;     /* the owner has freed the team; under the lock of the queues */
        bool ended;     /* the team's resources have been released; under the pool's lock */
    } queue;
    struct team_hooks {
        struct hud_exchange exchange; /* functions of the host */
        struct check *check;          /* watch/check.h; NULL: calls are not checked */
        struct learn *learn;          /* call/learn.h; NULL: nothing is measured */
        const uint64_t *precedes;     /* shape of the call before which an allreduce of huddle's own
                                         is running, for long waits; NULL: none is running */
        struct span
            *span; /* the span (span/span.h), if the team is refused as it spans nodes; else NULL */
        void (*kernel)(const struct hud_op *op, void *dst, const void *const *src, int sources,
                       size_t elements); /* a function that is known to be huddle's own */
    } hooks;
};
_Static_assert(offsetof(struct hud_team, shm.mem) + sizeof(struct mem) <= 2 * HUD_LINE,
               "a call on the fast path reads two lines of its team");

static inline struct hud_team *team_of_queue(struct call_queue *queue)
{
    return (struct hud_team *)(void *)((char *)queue - offsetof(struct hud_team, queue.calls));
}

/* Returns the data that a member publishes about itself. */
static inline struct member_state *team_member(const struct hud_team *team, int rank)
{
    return (struct member_state *)(void *)(team->shm.slices[rank] + MEMBER_OFFSET);
}

/* Returns whether the team has slices, and a member counts its calls. */
static inline bool team_counts(const struct hud_team *team)
{
    return team->state.now == TEAM_READY || team->state.now == TEAM_ENDING;
}

/* Returns whether all members use huddle on this node, or nobody can know.  Returns the same on
 * every rank, without communication.  Keeps the answer for later calls. */
bool hud_team_is_present(struct hud_team *team);

/* Tells the others that this member leaves the team: from now on its process may end. */
void hud_team_mark_left(struct hud_team *team);

/* Releases the resources of a READY team, without communication.  The slice is freed when all
 * members have left it (arena.h). */
void hud_team_leave(struct hud_team *team);

#endif
