/* SPDX-License-Identifier: BSD-3-Clause */
/* context.c - creates and destroys one rank's context. */
#define _GNU_SOURCE
#include "core/team/context.h"
#include "core/arena/budget.h"
#include "core/arena/direct.h"
#include "core/check/check.h"
#include "core/config/log.h"
#include "core/elevated.h"
#include "core/hash.h"
#include "core/kept.h"
#include "core/launched.h"
#include "core/required.h"
#include "core/team/presence.h"
#include "core/team/requests.h"
#include "core/team/setup.h"
#include "fiber/valgrind.h"
#include "late/late.h"
#include "mem/kept_errno.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* A process has one context, as a rule: other ranks wait for it, so it is there whatever the heap
 * has left. */
enum { KEPT_RANKS = 64 };

/* Plans without a team that a context keeps. */
enum { IDLE_PLANS = 4 };

union kept_hellos {
    union hello of[KEPT_RANKS];
};
union kept_context {
    struct hud_context is;
    _Alignas(HUD_LINE) char line;
};
KEPT(kept_context, union kept_context, 1);
KEPT(kept_hellos, union kept_hellos, 1);

/* Ranks share memory if they share a kernel; a host name of its own makes a node of its own
 * (containers, tests). */
static void identify_node(struct hud_context *c)
{
    char host[256] = "", boot[64] = "";
    FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");

    if (f) {
        if (!fgets(boot, sizeof boot, f))
            boot[0] = '\0';
        fclose(f);
    }
    gethostname(host, sizeof host - 1);
    c->host_id = hash_text(HASH_START, host);
    c->boot_id = boot[0] != '\0' ? hash_text(HASH_START, boot) | 1 : 0;
}

/* What the first team would otherwise wait for, while the MPI starts: some milliseconds. */
static void prepare(struct hud_context *c)
{
    struct peer_card card;

    if (c->config.error[0] != '\0' || c->config.number[SET_ON] == SWITCH_OFF ||
        c->host.world_size < 2)
        return;
    (void)hud_rules_builtin(); /* read once in a process */
    if (c->host.world_rank == 0)
        (void)hud_context_topo(c);
    if (c->host.local_ranks < 2 || hud_context_arena(c, c->host.local_ranks) != 0)
        return;
    hud_peers_card(&c->peers, &c->arena, &card);
    hud_arena_warm(&c->arena, hud_plan_lease_bytes(&c->config), c->host.local_ranks);
}

/* Hellos of all ranks; of a few there are always some. */
static void obtain_spare(struct hud_context *c)
{
    int ranks = c->host.world_size < SPARE_RANKS ? c->host.world_size : SPARE_RANKS;

    c->spare = calloc((size_t)ranks, HELLO_BYTES);
    c->spare_ranks = c->spare ? ranks : 0;
    if (!c->spare && (c->spare = kept_take(&kept_hellos)) != NULL)
        c->spare_ranks = ranks < KEPT_RANKS ? ranks : KEPT_RANKS;
}

/* Where the launcher tells of this node's ranks only, HUDDLE_NODES is the user's word for the other
 * nodes.  It stands where no rank here is without huddle. */
static bool vouches(const struct hud_context *c)
{
    int here = 0;

    if (c->config.number[SET_NODES] == NODES_OFF || !hud_presence_known() || c->host.present_far)
        return false;
    for (int r = 0; r < c->host.world_size; r++)
        here += hud_presence_of(r);
    return here == c->host.local_ranks;
}

static long launched_as(void)
{
    return process_is_elevated() ? -1 : launched_rank();
}

/* Reports a job of one rank.  A program that another MPI's launcher has started runs as several
 * such jobs, each of which believes that all is well. */
static void look_for_launcher(struct hud_context *c)
{
    long started = process_is_elevated() ? 0 : launched_size();

    if (c->host.world_size != 1 || c->config.error[0] != '\0')
        return;
    if (started > 1)
        snprintf(c->config.error, sizeof c->config.error,
                 "MPI_COMM_WORLD has one rank, though the launcher has started %ld: it belongs to "
                 "another MPI than %s",
                 started, c->host.name);
    else if (started == 0) /* (a rank without a launcher may find a number of Open MPI's own) */
        hud_log(&c->config, LOG_WARN,
                "MPI_COMM_WORLD has one rank, and no launcher is known to have started it");
}

/* The further bad values, a line each. */
static void say_more(const struct hud_context *c)
{
    for (int i = 0; i < c->config.more_count; i++)
        hud_log(&c->config, LOG_ERROR, "%s", c->config.more[i]);
}

static void say_why_it_ends(const void *context)
{
    const struct hud_context *c = context;

    hud_log(&c->config, LOG_ERROR, "HUDDLE=require: rank %d ends: %s", c->host.world_rank,
            c->config.error);
    say_more(c);
}

/* HUDDLE=require: no rank of a job goes on; its launcher ends the others.  A caller without an MPI
 * gets the error. */
static int end_required(struct hud_context *c)
{
    if (c->host.world_size > 0)
        required_end(launched_as() < 0, say_why_it_ends, c);
    hud_context_say(c, REASON_SETTING, c->config.error);
    hud_planner_free(c->planner);
    hud_rules_free(&c->rules);
    kept_free(&kept_context, c);
    return HUD_ERR_ARGUMENT;
}

/* Reports what is wrong with the settings or the job, by one rank. */
static void report_trouble(struct hud_context *c)
{
    if (c->config.error[0] != '\0' && c->host.world_rank == 0 &&
        (c->host.world_size > 1 || launched_as() <= 0))
        hud_context_say(c, REASON_SETTING, c->config.error);
}

int hud_context_create(const struct hud_host *host, hud_context **out)
{
    static const struct hud_host nobody;
    struct hud_context *c = NULL;

    if (!out)
        return HUD_ERR_ARGUMENT;
    *out = NULL;
    KEEP_ERRNO();
    c = aligned_alloc(HUD_LINE, (sizeof *c + HUD_LINE - 1) / HUD_LINE * HUD_LINE);
    if (!c && (c = kept_take(&kept_context)) == NULL)
        return HUD_ERR_MEMORY;
    memset(c, 0, sizeof *c);
    local_release(&c->spare_used);
    c->lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    hud_watch_init(&c->watch);
    hud_requests_init(c, host && host->threads);
    hud_peers_init(&c->peers);
    c->host = host ? *host : nobody;
    c->owner = c->host.name ? c->host_name : "the caller";
    snprintf(c->host_name, sizeof c->host_name, "%s", c->host.name ? c->host.name : "no MPI");
    c->host.name = c->host_name;
    c->pid = getpid();
    c->arena.file.fd = -1;
    local_set(&c->stats, &c->early);
    hud_config_read(c->host.settings, &c->config);
    if (c->config.number[SET_NONBLOCKING] == NONBLOCKING_AUTO)
        c->config.number[SET_NONBLOCKING] = c->host.waits_alone ? NONBLOCKING_OFF : NONBLOCKING_ON;
    c->announced_checks =
        c->host.present
            ? hud_config_manner(c->host.settings, c->host.waits_alone != 0) & MANNER_CHECKED
            : hud_presence_checked();
    c->host.settings = NULL;
    c->peers.maps = c->config.number[SET_XPMEM] != XPMEM_OFF;
    c->peers.keeps = c->config.number[SET_XPMEM] == XPMEM_KEEP;
    if (hud_checks(c))
        c->config.number[SET_FIRST] = 1; /* a call before the set-up would not be checked */
    if (c->config.error[0] == '\0')
        hud_rules_find(&c->rules, c->config.text[SET_TUNING], c->config.error,
                       sizeof c->config.error);
    c->network = c->rules.network;
    c->planner = hud_planner_create(&c->config, &c->rules);
    const char *stats = c->config.text[SET_STATS];
    c->timed = strcmp(stats, "off") != 0 && strcmp(stats, "0") != 0;
    look_for_launcher(c);
    if (c->config.error[0] != '\0' && c->config.required)
        return end_required(c);
    report_trouble(c);
    identify_node(c);
    c->version = hud_hello_version();
    c->quota = hud_topo_cpu_quota();
    obtain_spare(c);
    if (!c->host.present)
        hud_presence_look(c->host.world_size);
    c->vouched = !c->host.present && vouches(c);
    prepare(c);
    hud_stats_of(c);
    *out = c;
    return HUD_OK;
}

int hud_context_checks(const hud_context *c)
{
    return c && (c->config.number[SET_CHECK] == SWITCH_ON || c->announced_checks);
}

bool hud_context_present(const struct hud_context *c, int world_rank)
{
    if (c->host.present)
        return c->host.present(c->host.arg, world_rank) > 0;
    return !hud_presence_known() || c->vouched || hud_presence_of(world_rank);
}

bool hud_context_unlike(const struct hud_context *c, int world_rank)
{
    return c->host.present ? c->host.present(c->host.arg, world_rank) < 0
                           : hud_presence_unlike(world_rank);
}

static struct plan *unlink_plan(struct plan **at)
{
    struct plan *plan = *at;

    *at = plan->next;
    return plan;
}

void hud_context_destroy(hud_context *c)
{
    if (!c || c->pid != getpid())
        return;
    KEEP_ERRNO();
    if (c->timed && (c->host.world_rank == 0 || c->host.world_size == 0))
        hud_stats_print(c);
    hud_stats_of(NULL);
    hud_requests_destroy(c);
    hud_watch_destroy(&c->watch);
    hud_peers_destroy(&c->peers);
    hud_arena_destroy(&c->arena);
    hud_topo_free(c->topo);
    free(c->places.table);
    hud_planner_free(c->planner);
    while (c->plans)
        free(unlink_plan(&c->plans));
    hud_rules_free(&c->rules);
    kept_free(&kept_hellos, c->spare);
    pthread_mutex_destroy(&c->lock);
    kept_free(&kept_context, c);
}

/* From now on this rank counts in its arena; what it has counted goes there too. */
static void move_stats(struct hud_context *c)
{
    mem_counter *from = (mem_counter *)&c->early, *to = (mem_counter *)&c->arena.head->stats;

    local_set(&c->stats, &c->arena.head->stats);
    for (size_t i = 0; i < sizeof c->early / sizeof *from; i++)
        mem_count_move(&from[i], &to[i]);
}

/* A slice on another node than its rank's would split a huge page. */
bool hud_context_huge(const struct hud_context *c)
{
    return c->config.number[SET_HUGE_PAGES] == SWITCH_ON &&
           c->config.number[SET_PLACEMENT] == SWITCH_ON;
}

/*
 * Valgrind does not see that another process writes to this one's memory: what single copy brings
 * would stay undefined for memcheck.  A rank that refuses refuses for its team.
 */
unsigned hud_context_ways(const struct hud_context *c)
{
    if (valgrind_is_running())
        return 0;
    return (c->config.number[SET_CMA] != SINGLE_COPY_OFF ? DIRECT_CALLS : 0) |
           (c->config.number[SET_XPMEM] != XPMEM_OFF ? DIRECT_MAPPED : 0);
}

int hud_context_arena(struct hud_context *c, int team_ranks)
{
    int rc = 0;

    pthread_mutex_lock(&c->lock);
    if (!c->arena.head && !c->arena_why) {
        int ranks = c->host.local_ranks > 0 ? c->host.local_ranks : team_ranks;
        long wanted = c->config.number[SET_MEMORY];
        size_t bytes = wanted >= 0 ? (size_t)wanted : hud_budget_default(ranks);
        if (bytes > 0 && !hud_budget_has_space(bytes, ranks)) {
            c->arena_why = "too little address space is left (ulimit -v)";
        } else if (!hud_budget_has_descriptors()) {
            c->arena_why = "fewer than 64 descriptors are allowed (ulimit -n)";
        } else if (hud_arena_create(&c->arena, bytes, hud_context_huge(c) ? ranks : 0,
                                    &c->arena_why) == 0) {
            c->arena_why = NULL;
            c->arena.head->mark.world_rank = c->host.world_rank;
            move_stats(c);
        }
    }
    if (!c->arena.head)
        rc = -1;
    pthread_mutex_unlock(&c->lock);
    return rc;
}

const struct topo *hud_context_topo(struct hud_context *c)
{
    pthread_mutex_lock(&c->lock);
    bool failed = false;
    if (!c->topo_loaded) {
        c->topo = hud_topo_load();
        c->topo_loaded = true;
        failed = !c->topo;
    }
    pthread_mutex_unlock(&c->lock);
    if (failed && c->host.world_rank == 0) {
        const char *why = hud_late_trouble(LATE_TOPOLOGY);
        hud_log(&c->config, LOG_WARN, "the machine is not known, so ranks form no groups: %s",
                why ? why : "hwloc cannot describe it");
    }
    return c->topo;
}

const struct plan *hud_context_plan(struct hud_context *c, const struct plan_facts *facts,
                                    size_t max_bytes, struct plan **spare)
{
    pthread_mutex_lock(&c->lock);
    struct plan *p, **at = &c->plans;
    while (*at && (!hud_plan_facts_equal(&(*at)->facts, facts) || (*at)->max_bytes != max_bytes))
        at = &(*at)->next;
    if (*at) {
        p = unlink_plan(at);
    } else {
        p = *spare;
        *spare = NULL;
        hud_plan_make(c->planner, facts, max_bytes, true, p);
    }
    p->next = c->plans;
    c->plans = p;
    p->teams++;
    pthread_mutex_unlock(&c->lock);
    return p;
}

void hud_context_drop(struct hud_context *c, const struct plan *plan)
{
    pthread_mutex_lock(&c->lock);
    struct plan **at = &c->plans, **oldest = NULL;
    int idle = 0;
    for (; *at; at = &(*at)->next) {
        (*at)->teams -= *at == plan;
        if ((*at)->teams == 0) {
            oldest = at;
            idle++;
        }
    }
    struct plan *gone = idle > IDLE_PLANS ? unlink_plan(oldest) : NULL;
    pthread_mutex_unlock(&c->lock);
    free(gone);
}

bool hud_context_first(struct hud_context *c, bool *said)
{
    pthread_mutex_lock(&c->lock);
    bool first = !*said;
    *said = true;
    pthread_mutex_unlock(&c->lock);
    return first;
}

void hud_context_say(struct hud_context *c, enum reason reason, const char *line)
{
    bool first = hud_context_first(c, &c->said[reason]);

    if (!first || !line)
        return;
    hud_log(&c->config, reason == REASON_SETTING || reason == REASON_DIFFER ? LOG_ERROR : LOG_WARN,
            "%s; using %s's own collectives", line, c->owner);
    if (reason == REASON_SETTING)
        say_more(c);
}
