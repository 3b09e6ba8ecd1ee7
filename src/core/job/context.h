/* SPDX-License-Identifier: BSD-3-Clause */
/* context.h - one rank: its settings, arena, peers and statistics. */
#ifndef HUD_CONTEXT_H
#define HUD_CONTEXT_H

#include "base/process_atomics.h"
#include "core/arena/arena.h"
#include "core/arena/peers.h"
#include "core/config/config.h"
#include "core/job/place.h"
#include "core/job/stats.h"
#include "core/job/wisdom.h"
#include "core/plan/planner.h"
#include "request/call_queue.h"

#include <pthread.h>
#include <sys/types.h>

struct watch;

/* The maximum number of ranks for whose hellos a context keeps memory. */
enum { SPARE_RANKS = 4096 };

/*
 * The host, the settings, a lock, and eight parts, each of one trade.  What a call on the fast path
 * reads comes first, in one line.  `host`, `id` and `config` are set before the first team.
 */
struct hud_context {
    struct hud_host host;
    struct context_count count;
    struct context_id {
        char mpi_name[128];        /* host.name */
        const char *owner;         /* name of the MPI to which calls fall back, for messages */
        pid_t pid;                 /* a forked child has another one and must not print or free */
        uint64_t version;          /* the version in this rank's hellos */
        uint64_t host_id, boot_id; /* host name and boot, hashed; 0: not known */
        bool vouched; /* HUDDLE_NODES=on, and all ranks of this node use huddle; so ranks of other
                         nodes are assumed to use it */
        bool announced_checks; /* this rank and all present ones are announced with HUDDLE_CHECK */
    } id;
    struct config config;

    pthread_mutex_t lock; /* guards the next five parts, but no field that is atomic, or has a lock
                             or a flag of its own; never held during a round or a wait */
    struct context_plan plan;
    struct context_memory {
        struct arena arena;
        const char *arena_why; /* why there is no arena; NULL: there is one, or none was needed */
        struct peers peers;    /* (has a lock of its own) */
        struct context_spare {
            atomic_flag used; /* set while a set-up uses the hellos */
            void *hellos;     /* memory with which a rank can still refuse if there is no other */
            int ranks;        /* number of hellos, at most SPARE_RANKS */
        } spare;
    } memory;
    struct context_machine machine;
    struct context_learn learn;
    struct context_reported {      /* lines that were printed once, about ... */
        bool reason[REASON_COUNT]; /* this reason of a call that fell back */
        bool forced[COLL_KINDS];   /* the algorithm of a setting, which serves no call */
        bool order;                /* a violation of HUDDLE_REDUCE_ORDER=fixed */
        bool pages;                /* ranks without huge pages */
        bool rich;                 /* the tuning file, with more choices than a plan holds */
        bool memory;               /* short memory; also set if the first team had enough */
    } reported;

    struct context_calls {         /* calls in progress */
        struct call_queues queues; /* requests in flight */
        struct request_pool {
            struct hud_request *all, *spare; /* requests of the host; free requests */
        } pool;                              /* under the lock of queues.pool */
        struct watch *watch; /* the watch over its teams' calls, with HUDDLE_CHECK */
    } calls;
};
_Static_assert(offsetof(struct hud_context, count.stats) + sizeof(void *) <= HUD_LINE,
               "a call on the fast path reads one line of its context");

/* Returns whether a rank of the job uses huddle on this node, or nobody can know.  The answer
 * is the same on every rank of a team. */
bool hud_context_present(const struct hud_context *context, int world_rank);
/* Returns whether a rank uses huddle, but is absent to this rank, as the two differ in
 * HUDDLE_CHECK or HUDDLE_NONBLOCKING. */
bool hud_context_unlike(const struct hud_context *context, int world_rank);

/* Returns the counters of this rank. */
static inline struct stats *context_stats(struct hud_context *context)
{
    return local_get(&context->count.stats);
}

/* Counts a call in the statistics.  reason: why it is not handled. */
static inline void context_count_call(struct hud_context *context, enum coll_kind kind,
                                      size_t bytes, enum reason reason)
{
    struct stats_coll *s = &context_stats(context)->coll[kind];
    bool threads = context->host.threads != 0;

    mem_count(&s->calls, 1, threads);
    mem_count(&s->bytes, bytes, threads);
    mem_count(&s->reason_calls[reason], 1, threads);
}

/* Returns whether HUDDLE_HUGE_PAGES asks for huge pages, and nothing forbids them. */
bool hud_context_huge(const struct hud_context *context);

/* Returns the ways to another rank's memory that the settings allow (enum direct_way). */
unsigned hud_context_ways(const struct hud_context *context);

/* Creates the arena at first use: 0, or -1 and memory.arena_why.  team_ranks: for the budget, if
 * the host does not know the number of ranks on the node. */
int hud_context_arena(struct hud_context *context, int team_ranks);

/* Returns the machine as this rank sees it, or NULL. */
const struct topo *hud_context_topo(struct hud_context *context);

/*
 * Returns the plan for such a team.  Equal teams share a plan.  A new plan is made in *spare, which
 * is then set to NULL.  Cannot fail.  A dropped plan is kept until others have been dropped, too: a
 * program may make and free equal communicators in turn.
 */
const struct plan *hud_context_plan(struct hud_context *context, const struct plan_facts *facts,
                                    size_t max_bytes, struct plan **spare);
void hud_context_drop(struct hud_context *context, const struct plan *plan);
void hud_context_free_plans(struct hud_context *context);

/* Returns true at the first call with this flag, for lines that are printed once.  Sets the
 * flag. */
bool hud_context_first(struct hud_context *context, bool *reported);

/* Prints the further bad values, a line each. */
void hud_context_report_more(const struct hud_context *context);

/* Prints one warning per reason and context. line is NULL if another rank prints the warning. */
void hud_context_report(struct hud_context *context, enum reason reason, const char *line);

#endif
