/* SPDX-License-Identifier: BSD-3-Clause */
/* context.h - one rank: its settings, arena, peers and statistics. */
#ifndef HUD_CONTEXT_H
#define HUD_CONTEXT_H

#include "base/process_atomics.h"
#include "core/arena/arena.h"
#include "core/arena/peers.h"
#include "core/config/config.h"
#include "core/job/stats.h"
#include "core/job/wisdom.h"
#include "core/plan/planner.h"
#include "request/call_queue.h"
#include "topo/topo.h"

#include <pthread.h>
#include <sys/types.h>

struct learn;
struct place_table;
struct watch;
struct wisdom_start;

/* The maximum number of ranks for whose hellos a context keeps memory. */
enum { SPARE_RANKS = 4096 };

struct hud_context {
    struct hud_host host;
    char host_name[128];
    const char *owner; /* name of the MPI to which calls fall back, for messages */
    struct config config;
    struct rules rules; /* rules of the tuning file */
    pid_t pid;          /* a forked child has another one and must not print or free */

    pthread_mutex_t lock; /* never held during a round of a set-up or a wait */
    /* Fields under `lock`: */
    struct cost_network network; /* numbers of the tuning file, else measured ones; alpha_ns 0
                                    until they are known */
    struct planner *planner;     /* NULL: out of memory, so no team is set up */
    struct plan *plans;          /* the plans that teams use, and some dropped ones that later teams
                                    may need; the last used first */
    struct arena arena;
    const char *arena_why; /* why there is no arena; NULL: there is one, or none was needed */
    struct topo *topo; /* loaded by the job's rank 0 at once, by others when they are the rank 0 of
                          a team whose members' places are not known from a former team */
    bool topo_loaded;
    struct places {
        struct place_table *table; /* the table of hud_place_keep; NULL: none */
        int ranks;
    } places; /* places of the largest team so far */
    struct wisdom wisdom;
    struct wisdom_start *starts;      /* the last made first */
    struct wisdom_start *spare_start; /* memory for another start, or NULL */
    struct learn *idle_learns;        /* memory of teams that have ended */
    struct topo_cpus seen_cpus;       /* processors that all ranks seen so far may use */
    int seen_ranks;
    bool shares_processors;      /* the ranks of this kernel have outnumbered their processors */
    bool reported[REASON_COUNT]; /* a line about this reason has been printed */
    bool reported_order;  /* a line about a violation of HUDDLE_REDUCE_ORDER=fixed was printed */
    bool reported_pages;  /* a line about ranks without huge pages was printed */
    bool reported_rich;   /* printed: the tuning file has more choices than a plan holds */
    bool reported_memory; /* printed: memory is short; or the first team had enough */
    bool reported_forced[COLL_KINDS]; /* printed: the algorithm of a setting serves no call */

    /* Fields with a lock or a flag of their own: */
    struct peers peers;
    struct watch *watch;       /* the watch over its teams' calls, with HUDDLE_CHECK */
    struct call_queues queues; /* requests in flight */
    struct request_pool {
        struct hud_request *all, *spare; /* requests of the host; free requests */
    } pool;                              /* under the lock of queues.pool */
    atomic_flag spare_used;              /* set while a set-up uses `spare` */
    void *spare; /* hellos of spare_ranks, at most SPARE_RANKS, with which a rank that is out of
                    memory can still refuse */
    int spare_ranks;

    /* Atomic fields: */
    _Atomic(void *) stats; /* struct stats *: in the arena; until there is one, early */
    struct stats early;    /* counts of other threads while the arena is created; added when
                              statistics are printed */
    _Atomic uint64_t no_yield_until_ns; /* end of a time in which set-ups do not yield,
                                           since other processes take time slices */
    _Atomic unsigned char usual_way;    /* how teams begin to treat lines (mem/lines.c) */

    /* Fields that are set before the first team: */
    uint64_t version;          /* the version in this rank's hellos */
    uint64_t host_id, boot_id; /* host name and boot, hashed; 0: not known */
    int quota;                 /* processors that the cgroup allowed when the context was created */
    bool timed;                /* statistics are requested: measure times */
    bool vouched; /* HUDDLE_NODES=on, and all ranks of this node use huddle; so ranks of other nodes
                     are assumed to use it */
    bool announced_checks; /* this rank and all present ones are announced with HUDDLE_CHECK */
};

/* Returns whether a rank of the job uses huddle on this node, or nobody can know.  The answer
 * is the same on every rank of a team. */
bool hud_context_present(const struct hud_context *context, int world_rank);
/* Returns whether a rank uses huddle, but is absent to this rank, as the two differ in
 * HUDDLE_CHECK or HUDDLE_NONBLOCKING. */
bool hud_context_unlike(const struct hud_context *context, int world_rank);

/* Returns the counters of this rank. */
static inline struct stats *context_stats(struct hud_context *context)
{
    return local_get(&context->stats);
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

/* Creates the arena at first use: 0, or -1 and context->arena_why.  team_ranks: for the budget, if
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
