/* SPDX-License-Identifier: BSD-3-Clause */
/* context_create.c - creates and destroys one rank's context, from what the rooms below have. */
#define _GNU_SOURCE
#include "base/emergency_pool.h"
#include "base/hash.h"
#include "base/launcher_env.h"
#include "base/required.h"
#include "base/setuid.h"
#include "core/call/core_request.h"
#include "core/call/layout_version.h"
#include "core/call/learn.h"
#include "core/call/suspend.h"
#include "core/config/log.h"
#include "core/job/presence.h"
#include "core/job/wisdom_context.h"
#include "core/slice/hello.h"
#include "core/watch/check.h"
#include "core/watch/watch.h"
#include "mem/kept_errno.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Memory for the context of a process if the heap is exhausted.  Other ranks wait for this rank, so
 * the context must exist.  Usually a process has one context. */
enum { KEPT_RANKS = 64 };

union kept_hellos {
    union hello of[KEPT_RANKS];
};
union whole_context {
    struct {
        struct hud_context context; /* first, so that the union has the same address */
        struct watch watch;
    } parts;
    _Alignas(HUD_LINE) char line;
};
EMERGENCY_POOL(kept_context, union whole_context, 1);
EMERGENCY_POOL(kept_hellos, union kept_hellos, 1);

/* Identifies the node: ranks share memory if they share a kernel, and a host name of its own
 * makes a node of its own (containers, tests). */
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
    c->id.host_id = hash_text(HASH_START, host);
    c->id.boot_id = boot[0] != '\0' ? hash_text(HASH_START, boot) | 1 : 0;
}

/* Prepares while the MPI starts, so that the first team does not wait for some milliseconds. */
static void prepare(struct hud_context *c)
{
    struct peer_card card;

    if (c->config.error[0] != '\0' || c->config.number[SET_ON] == SWITCH_OFF ||
        c->host.world_size < 2)
        return;
    hud_wisdom_keep_path(c);
    (void)hud_rules_builtin(); /* read once in a process */
    if (c->host.world_rank == 0)
        (void)hud_context_topo(c);
    if (c->host.local_ranks < 2 || hud_context_arena(c, c->host.local_ranks) != 0)
        return;
    hud_peers_card(&c->memory.peers, &c->memory.arena, &card);
    hud_arena_warm(&c->memory.arena, hud_plan_lease_bytes(&c->config), c->host.local_ranks);
}

/* Allocates memory for the hellos of all ranks, or takes the emergency memory for a few ranks. */
static void obtain_spare(struct hud_context *c)
{
    int ranks = c->host.world_size < SPARE_RANKS ? c->host.world_size : SPARE_RANKS;

    c->memory.spare.hellos = calloc((size_t)ranks, HELLO_BYTES);
    c->memory.spare.ranks = c->memory.spare.hellos ? ranks : 0;
    if (!c->memory.spare.hellos && (c->memory.spare.hellos = emergency_take(&kept_hellos)) != NULL)
        c->memory.spare.ranks = ranks < KEPT_RANKS ? ranks : KEPT_RANKS;
}

/* Returns whether the user vouches for the ranks of other nodes by HUDDLE_NODES=on, if the launcher
 * knows only which ranks of this node use huddle.  All ranks of this node must use huddle.  auto
 * does not vouch: a rank without huddle would make the others wait for ever. */
static bool vouches(const struct hud_context *c)
{
    int here = 0;

    if (c->config.number[SET_NODES] != NODES_ON || !hud_presence_known() || c->host.present_far)
        return false;
    for (int r = 0; r < c->host.world_size; r++)
        here += hud_presence_of(r);
    return here == c->host.local_ranks;
}

static long launched_as(void)
{
    return process_is_elevated() ? -1 : launched_rank();
}

/* Reports a job of a single rank.  A program started by another MPI's launcher runs as several
 * such jobs, each without an error. */
static void report_single_rank(struct hud_context *c)
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

static void report_end(const void *context)
{
    const struct hud_context *c = context;

    hud_log(&c->config, LOG_ERROR, "HUDDLE=require: rank %d ends: %s", c->host.world_rank,
            c->config.error);
    hud_context_report_more(c);
}

/* Ends the rank, with HUDDLE=require: no rank of a job goes on, as its launcher ends the
 * others.  A caller without an MPI gets the error. */
static int end_required(struct hud_context *c)
{
    if (c->host.world_size > 0)
        required_end(launched_as() < 0, report_end, c);
    hud_context_report(c, REASON_SETTING, c->config.error);
    hud_planner_free(c->plan.planner);
    hud_rules_free(&c->plan.rules);
    emergency_free(&kept_context, c);
    return HUD_ERR_ARGUMENT;
}

/* Reports errors of the settings or the job, by a single rank. */
static void report_trouble(struct hud_context *c)
{
    if (c->config.error[0] != '\0' && c->host.world_rank == 0 &&
        (c->host.world_size > 1 || launched_as() <= 0))
        hud_context_report(c, REASON_SETTING, c->config.error);
}

int hud_context_create(const struct hud_host *host, hud_context **out)
{
    static const struct hud_host nobody;

    if (!out)
        return HUD_ERR_ARGUMENT;
    *out = NULL;
    KEEP_ERRNO();
    union whole_context *whole = aligned_alloc(HUD_LINE, sizeof *whole);
    if (!whole && (whole = emergency_take(&kept_context)) == NULL)
        return HUD_ERR_MEMORY;
    memset(whole, 0, sizeof *whole);
    struct hud_context *c = &whole->parts.context;
    local_release(&c->memory.spare.used);
    c->lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    c->calls.watch = &whole->parts.watch;
    hud_watch_init(c->calls.watch);
    hud_suspend_init(c, host && host->threads);
    hud_peers_init(&c->memory.peers);
    c->host = host ? *host : nobody;
    c->id.owner = c->host.name ? c->id.mpi_name : "the caller";
    snprintf(c->id.mpi_name, sizeof c->id.mpi_name, "%s", c->host.name ? c->host.name : "no MPI");
    c->host.name = c->id.mpi_name;
    c->id.pid = getpid();
    c->memory.arena.file.fd = -1;
    local_set(&c->count.stats, &c->count.early);
    hud_config_read(c->host.settings, &c->config);
    if (c->config.number[SET_NONBLOCKING] == NONBLOCKING_AUTO)
        c->config.number[SET_NONBLOCKING] = c->host.waits_alone ? NONBLOCKING_OFF : NONBLOCKING_ON;
    c->id.announced_checks =
        c->host.present
            ? hud_config_manner(c->host.settings, c->host.waits_alone != 0) & MANNER_CHECKED
            : hud_presence_checked();
    c->host.settings = NULL;
    c->memory.peers.maps = c->config.number[SET_XPMEM] != XPMEM_OFF;
    c->memory.peers.keeps = c->config.number[SET_XPMEM] == XPMEM_KEEP;
    if (hud_checks(c))
        c->config.number[SET_FIRST] = 1; /* a call before the set-up would not be checked */
    if (c->config.error[0] == '\0')
        hud_rules_find(&c->plan.rules, c->config.text[SET_TUNING], c->config.error,
                       sizeof c->config.error);
    c->plan.network = c->plan.rules.network;
    c->plan.planner = hud_planner_create(&c->config, &c->plan.rules);
    const char *stats = c->config.text[SET_STATS];
    c->count.timed = strcmp(stats, "off") != 0 && strcmp(stats, "0") != 0;
    report_single_rank(c);
    if (c->config.error[0] != '\0' && c->config.required)
        return end_required(c);
    report_trouble(c);
    identify_node(c);
    c->id.version = hud_layout_version();
    c->machine.quota = hud_topo_cpu_quota();
    obtain_spare(c);
    if (!c->host.present)
        hud_presence_find(c->host.world_size);
    c->id.vouched = !c->host.present && vouches(c);
    prepare(c);
    hud_stats_of(c);
    *out = c;
    return HUD_OK;
}

int hud_context_checks(const hud_context *c)
{
    return c && (c->config.number[SET_CHECK] == SWITCH_ON || c->id.announced_checks);
}

void hud_context_destroy(hud_context *c)
{
    if (!c || c->id.pid != getpid())
        return;
    KEEP_ERRNO();
    if (c->count.timed && (c->host.world_rank == 0 || c->host.world_size == 0))
        hud_stats_print(c);
    hud_wisdom_save(c);
    hud_stats_of(NULL);
    hud_requests_destroy(c);
    hud_watch_destroy(c->calls.watch);
    hud_peers_destroy(&c->memory.peers);
    hud_arena_destroy(&c->memory.arena);
    hud_topo_free(c->machine.topo);
    free(c->machine.places.table);
    hud_planner_free(c->plan.planner);
    hud_context_free_plans(c);
    hud_learn_free_idle(c);
    hud_rules_free(&c->plan.rules);
    hud_wisdom_free(&c->learn.wisdom);
    emergency_free(&kept_hellos, c->memory.spare.hellos);
    pthread_mutex_destroy(&c->lock);
    emergency_free(&kept_context, c);
}
