/* SPDX-License-Identifier: BSD-3-Clause */
/* context.h - one rank: its settings, arena, peers and statistics. */
#ifndef HUD_CONTEXT_H
#define HUD_CONTEXT_H

#include "core/arena/arena.h"
#include "core/arena/peers.h"
#include "core/check/watch.h"
#include "core/choose/planner.h"
#include "core/config/config.h"
#include "core/local.h"
#include "core/team/stats.h"
#include "request/lanes.h"
#include "topo/topo.h"

#include <pthread.h>
#include <sys/types.h>

struct place_table;

struct hud_context {
    struct hud_host host;
    char host_name[128];
    const char *owner; /* of the collectives to which calls fall back, for messages */
    struct config config;
    struct rules rules;          /* of the tuning file */
    struct cost_network network; /* under the lock: of that file, else as measured; alpha_ns 0 until
                                    then */
    struct planner *planner;     /* under the lock; NULL: no memory for one, so there is no team */
    struct plan *plans;   /* under the lock: those that teams share, the last used first, and some
                           that the next may need again */
    pid_t pid;            /* a forked child has another one and must not print or free */
    pthread_mutex_t lock; /* for the fields below; never held during a round of a set-up or a
                             wait */
    struct arena arena;
    const char *arena_why; /* why there is no arena; NULL: there is one, or none was needed */
    struct peers peers;
    void *spare; /* hellos of spare_ranks, at most SPARE_RANKS, with which a rank that is out of
                    memory can still refuse */
    int spare_ranks;
    atomic_flag spare_used;
    uint64_t version;          /* what a hello says of it */
    uint64_t host_id, boot_id; /* host name and boot, hashed; 0: not known */
    int quota;                 /* processors that the cgroup allowed when the context was created */
    struct topo *topo; /* loaded by the job's rank 0 at once, by others when they are the rank 0 of
                          a team whose members' places are not known from a former team */
    bool topo_loaded;
    struct places {
        struct place_table *table; /* as place.c keeps it; NULL: none */
        int ranks;
    } places;                   /* of the largest team so far */
    struct topo_cpus seen_cpus; /* processors that all ranks seen so far may use */
    int seen_ranks;
    bool said[REASON_COUNT]; /* a line about that reason has been printed */
    bool said_order;         /* and one about a violation of HUDDLE_REDUCE_ORDER=fixed */
    bool said_pages;         /* and one about ranks without huge pages */
    _Atomic(void *) stats;   /* struct stats *: in the arena; until there is one, early */
    struct stats early;      /* counts of other threads while the arena is created; added when
                                statistics are printed */
    struct watch watch;      /* of its teams' calls, with HUDDLE_CHECK */
    _Atomic uint64_t no_yield_until_ns; /* in waits of set-ups: other processes take time slices */
    bool timed;                         /* statistics are requested: measure times */
    bool vouched; /* HUDDLE_NODES=on, and all ranks of this node use huddle: so do the others */
    bool announced_checks;        /* this rank, and those present to it, have HUDDLE_CHECK */
    struct lanes lanes;           /* requests that are in flight */
    bool said_forced[COLL_KINDS]; /* that the algorithm of a setting serves no call */
    bool said_rich;               /* that the tuning file has more choices than a plan holds */
    bool said_memory;             /* that memory is short, or the first team had enough */
    struct request_pool {
        struct hud_request *all, *spare; /* of the host; and some to be used again */
    } pool;                              /* under the pool's lock of lanes */
};

/* Whether that rank of the job uses huddle on this node, or it cannot be known: the same answer on
 * every rank of a team. */
bool hud_context_present(const struct hud_context *context, int world_rank);
/* It uses huddle, but is absent to this rank, as the two differ in HUDDLE_CHECK or
 * HUDDLE_NONBLOCKING. */
bool hud_context_unlike(const struct hud_context *context, int world_rank);

/* The counters of this rank. */
static inline struct stats *context_stats(struct hud_context *context)
{
    return local_get(&context->stats);
}

/* Whether HUDDLE_HUGE_PAGES asks for huge pages, and nothing forbids them. */
bool hud_context_huge(const struct hud_context *context);

/* By the settings, the ways to another rank's memory (enum direct_way). */
unsigned hud_context_ways(const struct hud_context *context);

/* Creates the arena at first use: 0, or -1 and context->arena_why.  team_ranks: for the budget, if
 * the host does not know the number of ranks on the node. */
int hud_context_arena(struct hud_context *context, int team_ranks);

/* The machine as this rank sees it, or NULL. */
const struct topo *hud_context_topo(struct hud_context *context);

/*
 * The plan for such a team.  Equal teams share one: that of another team, or a new one in *spare,
 * which is then set to NULL.  Cannot fail.  Where the last team has dropped it, it is kept until
 * others have been dropped, too: a program may make and free equal communicators in turn.
 */
const struct plan *hud_context_plan(struct hud_context *context, const struct plan_facts *facts,
                                    size_t max_bytes, struct plan **spare);
void hud_context_drop(struct hud_context *context, const struct plan *plan);
/* Prints lines about the calls that such a plan leaves to the MPI (unserved.c). */
void hud_context_say_plan(struct hud_context *context, const struct plan *plan);

/* Whether too little memory for the team that is set up now is worth a line: the user has set that
 * one (SET_MEMORY or SET_LEASE), and it is the first team of the job's rank 0.  Later ones get what
 * earlier ones have left. */
bool hud_context_tells_memory(struct hud_context *context, int set);

/* True at the first call with this flag, for lines that are printed once; sets the flag. */
bool hud_context_first(struct hud_context *context, bool *said);

/* Prints one warning per reason and context; line NULL: another rank prints it. */
void hud_context_say(struct hud_context *context, enum reason reason, const char *line);

#endif
