/* SPDX-License-Identifier: BSD-3-Clause */
/* context.h - one rank: its settings, arena, peers and statistics. */
#ifndef HUD_CONTEXT_H
#define HUD_CONTEXT_H

#include "core/arena/arena.h"
#include "core/arena/peers.h"
#include "core/check/watch.h"
#include "core/choose/plan.h"
#include "core/config/config.h"
#include "core/local.h"
#include "core/team/stats.h"
#include "topo/topo.h"

#include <pthread.h>
#include <sys/types.h>

struct hud_context {
    struct hud_host host;
    char host_name[128];
    const char *owner; /* of the collectives that serve when huddle does not, for messages */
    struct config config;
    struct rules rules;   /* of the tuning file */
    struct plan *plans;   /* that teams share; under the lock; as long as one has it */
    pid_t pid;            /* a forked child has another one and must not speak or free */
    pthread_mutex_t lock; /* for what follows; never held across a round of a set-up, nor while
                             anything waits */
    struct arena arena;
    const char *arena_why; /* why there is no arena; NULL: there is one, or nobody has asked */
    struct peers peers;
    void *spare; /* hellos of spare_ranks, SPARE_RANKS at most: a rank that has run out of memory
                    still tells the others so */
    int spare_ranks;
    atomic_flag spare_used;
    uint64_t host_id, boot_id; /* host name and boot, hashed; 0: not known */
    int quota;                 /* processors the cgroup allowed when the context was made */
    struct topo *topo; /* loaded by the job's rank 0 at once, by others when they are a team's rank
                          0 for the first time */
    bool topo_loaded;
    struct topo_cpus seen_cpus; /* processors that all ranks seen so far may use */
    int seen_ranks;
    bool said[REASON_COUNT]; /* a line about that reason has been printed */
    bool said_order;         /* and one that HUDDLE_REDUCE_ORDER=fixed does not hold */
    _Atomic(void *) stats;   /* struct stats *: in the arena; until there is one, early */
    struct stats early;    /* what another thread counts here while the arena is made is added when
                              statistics are printed */
    struct watch watch;    /* of its teams' calls, with HUDDLE_CHECK */
    bool timed;            /* statistics are wanted: measure */
    bool announced_checks; /* ranks that are present to this one have HUDDLE_CHECK, as it has itself
                            */
};

/* The job's rank is known to use huddle on this node, as this one, or nobody can tell: the same
 * answer on every rank of a team that is asked for its members. */
bool hud_context_present(const struct hud_context *context, int world_rank);

/* Where this rank counts. */
static inline struct stats *context_stats(struct hud_context *context)
{
    return local_get(&context->stats);
}

/* The arena, made at first use: 0, or -1 and context->arena_why.  team_ranks: for the budget, where
 * the host does not know the node's ranks. */
int hud_context_arena(struct hud_context *context, int team_ranks);

/* The machine as this rank sees it, or NULL. */
const struct topo *hud_context_topo(struct hud_context *context);

/*
 * The plan for such a team, shared by all that are alike: one that another team has, or a new one
 * in *spare, which is then NULL.  Cannot fail.  The last team that drops it frees it.
 */
const struct plan *hud_context_plan(struct hud_context *context, const struct plan_facts *facts,
                                    size_t max_bytes, struct plan **spare);
void hud_context_drop(struct hud_context *context, const struct plan *plan);
/* Prints a line for each call that such a plan has no room for. */
void hud_context_say_plan(const struct hud_context *context, const struct plan *plan);

/* A line that is said once has not been said yet; now it has. */
bool hud_context_first(struct hud_context *context, bool *said);

/* One warning per reason and context; line NULL: another rank has said it. */
void hud_context_say(struct hud_context *context, enum reason reason, const char *line);

#endif
