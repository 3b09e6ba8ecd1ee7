/* SPDX-License-Identifier: BSD-3-Clause */
/* policy.c - how a team's ranks wait, from the facts about their processors in the first round. */
#include "core/team/policy.h"
#include "core/job/place.h"

#include <unistd.h>

enum { POLLS = 256, SLEEP_NS = 1000000 };
enum { MOVE_MIN_BYTES = 4 << 20, PREFETCH_MIN_BYTES = 256, PREFETCH_MAX_BYTES = 2048 };

/* Returns the size from which copies of a message bypass the caches.  Copies of all ranks that
 * take half the last-level cache will not be there when they are read, and would have evicted
 * other data. */
static size_t stream_bytes(const struct config *config, int ranks)
{
    long cache = sysconf(_SC_LEVEL3_CACHE_SIZE), set = config->number[SET_STREAM];

    return set >= 0 ? (size_t)set : cache > 0 ? (size_t)cache / 2 / (size_t)ranks + 1 : 0;
}

/* Returns the size from which a rank's own copy bypasses the caches, since its nearest large caches
 * do not hold the copy.  Twice an L2 of 2 MB (Xeon, copies.csv), or four times one of 1 MB whose
 * evicted lines go to the L3 (EPYC, E68). */
static size_t move_bytes(const struct config *config)
{
    long cache = 2 * sysconf(_SC_LEVEL2_CACHE_SIZE), set = config->number[SET_STREAM];

    return set >= 0 ? (size_t)set : cache > MOVE_MIN_BYTES ? (size_t)cache : MOVE_MIN_BYTES;
}

/* Sets the limits of prefetching.  A rank of an EPYC 9005 stalls if more than about 32 lines are
 * prefetched for ownership (E26).  No other processor was measured. */
static void prefetch_policy(const struct config *config, struct mem_policy *policy)
{
    long set = config->number[SET_PREFETCH];

    policy->prefetch_bytes = set >= 0 ? (size_t)set : PREFETCH_MAX_BYTES;
    policy->message_bytes = PREFETCH_MIN_BYTES;
}

_Static_assert((int)LINES_CELLS >= (int)PLAN_SLOTS, "each slot has its own ways");

/* Allows the way of HUDDLE_LINES, or all ways for the last word of the setting.  With
 * HUDDLE_STREAM=0 no way has non-temporal stores. */
static void lines_policy(const struct config *config, struct mem_policy *policy)
{
    unsigned set = (unsigned)config->number[SET_LINES],
             never = config->number[SET_STREAM] == 0 ? LINES_NONTEMPORAL : 0;

    policy->ways = 0;
    for (unsigned way = 0; way < LINES_WAYS; way++)
        if (set >= LINES_WAYS || way == set)
            policy->ways |= 1u << (way & ~never);
    policy->learns = set >= LINES_WAYS && hud_lines_ticks() != 0;
}

void hud_policy_make(struct hud_team *team, const union hello *hello)
{
    struct hud_context *c = team->context;
    enum mem_way way = (enum mem_way)c->config.number[SET_WAIT];
    bool polls =
        way == MEM_POLL ||
        (way == MEM_ADAPTIVE && !hud_place_oversubscribed(c, hello, team->id.rank, team->id.size));

    team->shm.policy = (struct mem_policy){ .polls = polls ? POLLS : 0,
                                            .way = way,
                                            .sleep_ns = SLEEP_NS,
                                            .progress = c->calls.queues.progress,
                                            .arg = c->calls.queues.arg,
                                            .stream_bytes = stream_bytes(&c->config, team->id.size),
                                            .move_bytes = move_bytes(&c->config) };
    team->queue.polls = team->shm.policy.polls;
    prefetch_policy(&c->config, &team->shm.policy);
    lines_policy(&c->config, &team->shm.policy);
    team->shm.policy.usual_way = &c->machine.usual_way;
}

void hud_policy_take(struct hud_team *team)
{
    uintptr_t alignment = hud_arena_alignment(team->context->memory.arena.bytes);

    team->shm.mem_team.cell = team->shm.lines;
    team->shm.mem_team.lines = MEMBER_OFFSET + offsetof(struct member_state, lines);
    team->shm.mem_team.slice_bytes = team->shm.bytes;
    team->shm.mem = (struct mem){ .rank = team->id.rank,
                                  .size = team->id.size,
                                  .slices = team->shm.slices,
                                  .home_mask = ~(alignment - 1),
                                  .policy = &team->shm.policy,
                                  .team = &team->shm.mem_team };
    hud_lines_start(&team->shm.mem);
}
