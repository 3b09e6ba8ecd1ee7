/* SPDX-License-Identifier: BSD-3-Clause */
/* policy.c - how a team's ranks wait, from the facts about their processors in the first round. */
#include "core/team/policy.h"
#include "core/team/longwait.h"
#include "core/team/requests.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

enum { POLLS = 256, SLEEP_NS = 1000000 };

bool hud_policy_oversubscribed(struct hud_team *team, const union hello *hello)
{
    struct hud_context *c = team->context;
    int size = team->size, quota = INT_MAX;
    int local = c->host.local_ranks > size ? c->host.local_ranks : size;
    const struct topo_cpus *own = &hello[team->rank].is.cpus;
    struct topo_cpus all = { { 0 } };
    bool same = true;

    for (int r = 0; r < size; r++) {
        const struct topo_cpus *cpus = &hello[r].is.cpus;
        for (int w = 0; w < TOPO_CPUS / 64; w++)
            all.word[w] |= cpus->word[w];
        same = same && memcmp(cpus, own, sizeof *own) == 0;
        quota = hello[r].is.quota < quota ? hello[r].is.quota : quota;
    }
    pthread_mutex_lock(&c->lock);
    for (int w = 0; w < TOPO_CPUS / 64; w++)
        c->seen_cpus.word[w] |= all.word[w];
    c->seen_ranks = size > c->seen_ranks ? size : c->seen_ranks;
    bool seen_all = c->seen_ranks >= local;
    int seen = hud_topo_cpus_count(&c->seen_cpus);
    pthread_mutex_unlock(&c->lock);
    if (size > hud_topo_cpus_count(&all) || local > quota)
        return true;
    return seen_all ? local > seen : same && local > hud_topo_cpus_count(own);
}

/* Where the ranks' copies of a message take half the last-level cache, they will not be there when
 * they are read, and would have pushed out what is. */
static size_t stream_bytes(const struct config *config, int ranks)
{
    long cache = sysconf(_SC_LEVEL3_CACHE_SIZE), set = config->number[SET_STREAM];

    return set >= 0 ? (size_t)set : cache > 0 ? (size_t)cache / 2 / (size_t)ranks + 1 : 0;
}

/* A copy of a rank's own, which its nearest cache of much size does not hold.  An AMD processor's
 * L3 has what its L2 evicts, and holds several times that (E68). */
static size_t move_bytes(const struct config *config)
{
    long cache = sysconf(_SC_LEVEL2_CACHE_SIZE) * (hud_topo_vendor() == TOPO_AMD ? 4 : 1),
         set = config->number[SET_STREAM];

    return set >= 0 ? (size_t)set : cache > 0 ? (size_t)cache : 0;
}

/*
 * An AMD processor with more than some 32 lines to fetch for writing keeps its rank; there short
 * messages gain (EPYC 9005, E26).  The limits elsewhere were chosen on a Xeon, of which no data are
 * kept.
 */
static void prefetch_policy(const struct config *config, struct mem_policy *policy)
{
    bool amd = hud_topo_vendor() == TOPO_AMD;
    long set = config->number[SET_PREFETCH];

    policy->prefetch_bytes = set >= 0 ? (size_t)set : amd ? 2048 : SIZE_MAX;
    policy->message_bytes = amd ? 256 : 2048;
}

/* Allows what HUDDLE_LINES says: one way, or, its last word, all. */
static void lines_policy(const struct config *config, struct mem_policy *policy)
{
    unsigned set = (unsigned)config->number[SET_LINES], all = (1u << LINES_WAYS) - 1,
             past = 1u << LINES_PAST | 1u << (LINES_PAST | LINES_BACK);

    if (config->number[SET_STREAM] == 0)
        all &= ~past;
    policy->ways = set < LINES_WAYS ? 1u << set : all;
    policy->learns = set >= LINES_WAYS && hud_lines_ticks() != 0;
}

void hud_policy_make(struct hud_team *team, const union hello *hello)
{
    const struct hud_context *c = team->context;
    enum mem_way way = (enum mem_way)c->config.number[SET_WAIT];
    bool polls =
        way == MEM_POLL || (way == MEM_ADAPTIVE && !hud_policy_oversubscribed(team, hello));

    team->policy = (struct mem_policy){ .polls = polls ? POLLS : 0,
                                        .way = way,
                                        .sleep_ns = SLEEP_NS,
                                        .progress = hud_request_progress,
                                        .arg = team->context,
                                        .watch = hud_longwait_watch,
                                        .watch_arg = team,
                                        .stream_bytes = stream_bytes(&c->config, team->size),
                                        .move_bytes = move_bytes(&c->config) };
    team->polls = team->policy.polls;
    prefetch_policy(&c->config, &team->policy);
    lines_policy(&c->config, &team->policy);
}

void hud_policy_take(struct hud_team *team)
{
    uintptr_t alignment = hud_arena_alignment(team->context->arena.bytes);

    team->mem_team.cell = team->lines;
    team->mem_team.lines = MEMBER_OFFSET + offsetof(struct member_state, lines);
    team->mem_team.slice_bytes = team->bytes;
    team->mem = (struct mem){ .rank = team->rank,
                              .size = team->size,
                              .slices = team->slices,
                              .home_mask = ~(alignment - 1),
                              .policy = &team->policy,
                              .team = &team->mem_team };
    hud_lines_start(&team->mem);
}
