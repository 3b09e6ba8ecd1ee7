/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * setup.c - sets a team up, in two allgathers of the host (rounds).
 *
 *   round 1   Each rank sends its hello (hello.c).  All ranks reach the same verdict.
 *   between   Each rank maps the arenas that it has not mapped yet.  Each rank then reserves,
 *             commits and zeroes a slice of its own arena, as large as the smallest offer.  Rank 0
 *             writes the ranks' places into its slice, and its known choices for such teams into
 *             its arena.
 *   round 2   Each rank sends its status and the offset of its slice.  If one rank refuses, all do.
 *
 * A refused team stays refused, so the ranks agree at every later call.  No lock is held across
 * a round.  A team that begins later (HUDDLE_FIRST) has a first round at its first collective too.
 */
#include "core/call/setup.h"
#include "core/arena/direct.h"
#include "core/call/learn.h"
#include "core/call/plan_warnings.h"
#include "core/config/log.h"
#include "core/job/place.h"
#include "core/job/presence_of_team.h"
#include "core/span/span.h"
#include "core/team/hello.h"
#include "core/team/policy.h"
#include "core/team/round.h"
#include "core/watch/check.h"
#include "core/watch/longwait.h"
#include "fiber/sanitizers.h"

#include <stdio.h>
#include <stdlib.h>

struct setup {
    struct hud_team *team;
    struct fiber_task *task; /* the task that runs the set-up, or NULL */
    union hello *hello;      /* [size] */
    struct peer_card *card;  /* [size] */
    struct reply *reply;     /* [size] */
    int *unit, *groups;      /* memory for read_place */
    struct place_table *place;
    struct plan *plan;    /* memory for the team's plan */
    char **base;          /* [size] arenas */
    size_t bytes, offset; /* size of the slice, and offset in the arena */
    unsigned direct;      /* ways in which this rank reaches the others' memory; after the second
                             round, the ways of all ranks */
    bool quick;           /* the kernel copies quickly for this rank; after the second round, for
                             all ranks */
    struct reply_known known; /* written by this rank, which is rank 0 */
    union hello *spare;       /* the context's spare hellos, if `hello` is these, or NULL */
    bool no_memory;           /* hello is the context's spare, to refuse in the first round */
    int who;                  /* the rank that a refusal is about */
    bool garbled;             /* REASON_EXCHANGE: the rank's data is invalid; the exchange worked */
};

static struct place_table *place_of(char *slice)
{
    return (struct place_table *)(void *)(slice + PLACE_OFFSET);
}

/* Reads rank 0's table on all ranks, into memory allocated before the rounds: nothing can fail
 * any more. */
static void read_place(struct setup *s)
{
    struct hud_team *team = s->team;
    struct place_table *table = s->place;

    hud_place_read(place_of(team->shm.slices[0]), team->id.size, table);
    team->places.levels = table->levels;
    team->plan.cache_bytes = (size_t)table->cache_bytes;
    memcpy(team->places.name, table->name, sizeof team->places.name);
    for (int i = 0; i < table->levels * team->id.size; i++)
        s->unit[i] = table->unit[i];
    struct shape_place place = { .ranks = team->id.size, .levels = table->levels, .unit = s->unit };
    hud_shape_groups_build_in(&place, s->groups, &team->places.groups);
    s->groups = NULL;
}

/* Returns the bytes of the slice.  A single-call team needs a slice for the largest size of any
 * member, which may exceed the offer. */
static size_t plan_bytes(struct setup *s, bool *reaches)
{
    struct hud_team *team = s->team;
    struct planner *planner = team->context->plan.planner;
    size_t offer = s->bytes;

    if (!team->plan.single_call.enabled)
        return hud_plan_bytes(planner, team->id.size, offer, true, reaches);
    for (int r = 0; r < team->id.size; r++)
        if (s->hello[r].fields.single_call_bytes > team->plan.single_call.bytes)
            team->plan.single_call.bytes = (size_t)s->hello[r].fields.single_call_bytes;
    size_t needed = hud_plan_single_call_bytes(planner, team->id.size, &team->plan.single_call,
                                               &s->bytes, reaches);
    return needed <= offer ? needed : 0;
}

/* Prepares the slice between the rounds. */
static enum reason prepare(struct setup *s)
{
    struct hud_team *team = s->team;
    struct hud_context *c = team->context;
    struct peers *peers = &c->memory.peers;
    const char *why = "";
    bool reaches;

    for (int r = 0; r < team->id.size; r++)
        s->card[r] = s->hello[r].fields.card;
    int missing = hud_peers_map(peers, &c->memory.arena, s->card, team->id.size, team->id.rank,
                                hud_round_pause, &(struct pause){ c, s->task }, s->base);
    if (missing != 0) {
        hud_log(&c->config, LOG_INFO, "the arena of rank %d of a team cannot be reached",
                missing - 1);
        return REASON_REACH;
    }
    pthread_mutex_lock(&c->lock);
    team->shm.bytes = plan_bytes(s, &reaches);
    pthread_mutex_unlock(&c->lock);
    if (reaches)
        s->direct = hud_peers_direct(peers, s->card, team->id.size, team->id.rank,
                                     hud_context_ways(c), team->peers.direct, team->peers.mapped);
    s->quick = (s->direct & DIRECT_CALLS) &&
               (c->config.number[SET_CMA] == SINGLE_COPY_ON || hud_direct_is_quick());
    if (team->shm.bytes == 0)
        return REASON_LEASE;
    pthread_mutex_lock(&c->lock);
    if (c->config.number[SET_PLACEMENT] == SWITCH_OFF)
        hud_arena_aim(&c->memory.arena, s->hello[0].fields.node);
    s->offset = hud_arena_reserve(&c->memory.arena, team->shm.bytes, team->id.size, &why);
    pthread_mutex_unlock(&c->lock);
    if (s->offset == 0) {
        hud_log(&c->config, LOG_INFO, "no lease of %zu bytes: %s", team->shm.bytes, why);
        return REASON_LEASE;
    }
    if (team->id.rank != 0)
        return REASON_NONE;
    struct place_table *places = place_of(s->base[0] + s->offset);
    hud_place_write(c, s->hello, team->id.size, places);
    return hud_learn_share(team, s->hello, places, &s->known) ? REASON_NONE : REASON_LEASE;
}

/* Takes the plan for these ranks in their places, in memory allocated before the rounds. */
static void take_plan(struct setup *s)
{
    struct hud_team *team = s->team;
    struct hud_context *c = team->context;
    bool keeps = c->memory.peers.keeps;
    struct plan_facts facts = { .ranks = team->id.size,
                                .single_call = team->plan.single_call,
                                .oversubscribed = s->place->oversubscribed != 0,
                                .direct = s->direct != 0,
                                .quick = s->direct & DIRECT_MAPPED ? keeps : s->quick };

    hud_plan_locate(s->place, &facts);
    team->plan.shared = hud_context_plan(c, &facts, s->bytes, &s->plan);
    if (team->id.rank == 0 && !team->plan.single_call.enabled)
        hud_plan_warnings_print(c, team->plan.shared);
    pthread_mutex_lock(&c->lock);
    hud_place_keep(&c->machine.places, &s->place, s->hello, team->id.size);
    pthread_mutex_unlock(&c->lock);
}

/* Takes up everything after the second round. */
static void take_up(struct setup *s)
{
    struct hud_team *team = s->team;

    for (int r = 0; r < team->id.size; r++)
        team->shm.slices[r] = s->base[r] + s->reply[r].offset;
    team->shm.offset = s->offset;
    team->state.timed = team->context->count.timed;
    read_place(s);
    take_plan(s);
    hud_policy_make(team, s->hello);
    hud_longwait_begin(team, s->card, s->reply[0].offset);
    hud_policy_take(team);
    team->shm.mem_team.peers = s->direct != 0 ? team->peers.direct : NULL;
    team->shm.mem_team.mapped = s->direct & DIRECT_MAPPED ? team->peers.mapped : NULL;
    team->shm.mem_team.reach = MEMBER_OFFSET + offsetof(struct member_state, reach);
    if (team->hooks.check)
        hud_check_start(team, s->card);
    hud_learn_take(team, s->base[0], s->reply[0].known);
    hud_learn_start(team);
    if (team->id.rank == 0)
        hud_log(&team->context->config, LOG_DEBUG,
                "a team of %d ranks is ready: %zu KiB of each rank, %s single copy", team->id.size,
                s->bytes >> 10, s->direct != 0 ? "with" : "no");
}

static enum reason run_rounds(struct setup *s)
{
    struct hud_team *team = s->team;
    struct reply mine;
    union hello own;

    hud_hello_make(team, &own);
    hud_learn_announce(team, &own);
    if (s->no_memory && own.fields.reason == REASON_NONE)
        own.fields.reason = REASON_PRIVATE;
    if (!hud_round_gather(team, s->task, &own, sizeof own, s->hello))
        return REASON_EXCHANGE;
    enum reason reason = hud_hello_verdict(s->hello, team->id.size, &s->bytes, &s->who);
    if (reason == REASON_NODES && hud_span_wanted(team)) {
        reason = hud_span_setup(team, s->task, s->hello, s->reply, &s->who);
        return reason == REASON_NONE ? REASON_NODES : reason;
    }
    s->garbled = reason == REASON_EXCHANGE;
    if (reason != REASON_NONE)
        return reason;
    hud_hello_explain_pages(team, s->hello);
    mine = (struct reply){ .reason = prepare(s) };
    mine.offset = s->offset;
    mine.known = s->known;
    mine.direct = (uint16_t)s->direct;
    mine.quick = s->quick;
    if (!hud_round_gather(team, s->task, &mine, sizeof mine, s->reply))
        return REASON_EXCHANGE;
    reason = hud_reply_verdict(s->reply, s->hello, team->id.size, team->shm.bytes, &s->who);
    s->garbled = reason == REASON_EXCHANGE;
    bool out_of_reach = false;
    for (int r = 0; r < team->id.size; r++) {
        s->direct &= s->reply[r].direct;
        s->quick = s->quick && s->reply[r].quick;
        out_of_reach = out_of_reach || s->reply[r].reason == REASON_REACH;
    }
    if (out_of_reach)
        hud_peers_send_again(&team->context->memory.peers, s->card, team->id.size);
    if (reason == REASON_NONE)
        take_up(s);
    return reason;
}

/* Returns whether world rank 0 has printed the same line when it read its settings. */
static bool rank_0_has_reported(const struct setup *s)
{
    for (int r = 0; r < s->team->id.size; r++)
        if (s->hello[r].fields.world_rank == 0 &&
            s->hello[r].fields.complaint == s->hello[s->who].fields.complaint)
            return true;
    return false;
}

/* Explains a refusal.  A user's concern is reported in a line by a single rank; the rest is for
 * statistics. */
static void explain(const struct setup *s, enum reason reason)
{
    struct hud_team *team = s->team;
    struct hud_context *c = team->context;
    bool ours = team->id.rank == s->who, first = team->id.rank == 0;
    int me = c->host.world_size > 0 ? c->host.world_rank : team->id.rank;
    char line[3 * SET_TEXT] = "";

    if (reason == REASON_SETTING && ours && !rank_0_has_reported(s))
        snprintf(line, sizeof line, "rank %d: %s", me, c->config.error);
    else if (reason == REASON_DIFFER && first)
        hud_hello_describe_difference(s->hello, s->who, c->host.world_size > 0, line, sizeof line);
    else if (reason == REASON_ARENA && ours)
        snprintf(line, sizeof line, "rank %d has no shared memory (HUDDLE_MEMORY=%s): %s", me,
                 c->config.text[SET_MEMORY], c->memory.arena_why);
    else if (reason == REASON_LEASE && first && !team->plan.single_call.enabled &&
             hud_plan_warnings_memory(c, SET_MEMORY))
        snprintf(line, sizeof line,
                 "HUDDLE_MEMORY=%s is too little for a communicator of %d ranks (accepted: auto, "
                 "or at least 24K for 2 ranks; more ranks and more communicators need more)",
                 c->config.text[SET_MEMORY], team->id.size);
    else if (reason == REASON_REACH && ours)
        snprintf(line, sizeof line,
                 "rank %d cannot map the shared memory of other ranks: the kernel forbids access, "
                 "or a limit (ulimit -v, ulimit -n) is too low",
                 me);
    else if (reason == REASON_PRIVATE && ours)
        snprintf(line, sizeof line, "rank %d is out of private memory", me);
    else if (reason == REASON_EXCHANGE && first && s->garbled)
        snprintf(line, sizeof line, "rank %d sent invalid set-up data", s->who);
    else if (reason == REASON_VERSION && first)
        snprintf(line, sizeof line, "ranks 0 and %d run different versions of huddle", s->who);
    hud_context_report(c, reason, line[0] != '\0' ? line : NULL);
}

/* Allocates the memory of the set-up, before the first round.  Returns false if there is not
 * even memory to refuse. */
static bool allocate(struct setup *s)
{
    struct hud_team *team = s->team;
    struct hud_context *c = team->context;
    struct context_spare *spare = &c->memory.spare;
    size_t ranks = (size_t)team->id.size;

    s->hello = calloc(ranks, sizeof *s->hello);
    s->card = calloc(ranks, sizeof *s->card);
    s->reply = calloc(ranks, sizeof *s->reply);
    s->base = calloc(ranks, sizeof *s->base);
    s->place = calloc(1, hud_place_kept_bytes(team->id.size));
    s->unit = calloc(SHAPE_LEVELS * ranks, sizeof *s->unit);
    s->groups = calloc(hud_shape_groups_ints(team->id.size, team->id.size), sizeof *s->groups);
    s->plan = malloc(sizeof *s->plan);
    free(team->shm.slices); /* the list of an early round */
    team->shm.slices = calloc(ranks, sizeof *team->shm.slices);
    free(team->peers.direct);
    team->peers.direct = calloc(ranks, sizeof *team->peers.direct);
    free(team->peers.mapped);
    team->peers.mapped = calloc(ranks, sizeof *team->peers.mapped);
    free(team->peers.process);
    team->peers.process = calloc(ranks, sizeof *team->peers.process);
    team->hooks.check = hud_checks(c) ? hud_check_create(team) : NULL;
    if (s->hello && s->card && s->reply && s->base && s->place && s->unit && s->groups && s->plan &&
        team->shm.slices && team->peers.direct && team->peers.mapped && team->peers.process &&
        (team->hooks.check || !hud_checks(c)) && c->plan.planner && hud_rules_builtin() &&
        hud_learn_create(team))
        return true;
    s->no_memory = true;
    if (!s->hello && team->id.size <= spare->ranks && local_claim(&spare->used))
        s->hello = s->spare = spare->hellos;
    return s->hello != NULL;
}

/* Releases a set-up that has ended; the team keeps its own memory. */
static void release(struct setup *s, enum reason reason)
{
    if (reason == REASON_EXCHANGE && !s->garbled) { /* messages may still read what they carry */
        s->team->peers.carried[0] = s->spare ? NULL : s->hello;
        s->team->peers.carried[1] = s->reply;
        s->hello = NULL;
        s->reply = NULL;
    } else if (s->spare) {
        local_release(&s->team->context->memory.spare.used);
        s->hello = NULL;
    }
    free(s->hello);
    free(s->card);
    free(s->reply);
    free(s->base);
    free(s->place);
    free(s->unit);
    free(s->groups);
    free(s->plan);
}

static void refuse(struct hud_team *team, enum reason reason)
{
    team->state.now = TEAM_REFUSED;
    team->state.reason = reason;
    hud_check_free(team);
    hud_learn_free(team);
    if (team->hooks.span) {
        hud_log(&team->context->config, LOG_DEBUG, "a team of %d ranks spans %d nodes",
                team->id.size, team->hooks.span->map.nodes);
        return;
    }
    mem_count(&context_stats(team->context)->teams_refused, 1, team->context->host.threads);
    hud_log(&team->context->config, LOG_DEBUG, "a team of %d ranks falls back to the MPI: %s",
            team->id.size, hud_reason_text[reason]);
    if (hud_checks(team->context))
        hud_log(&team->context->config, LOG_INFO, "a team of %d ranks is not checked: %s",
                team->id.size, hud_reason_text[reason]);
}

static void set_up(struct hud_team *team, struct fiber_task *task)
{
    struct setup s = { .team = team, .task = task, .no_memory = team->state.declined };
    struct hud_context *c = team->context;

    if (++team->state.calls < c->config.number[SET_FIRST] && team->state.now == TEAM_EARLY)
        return;
    enum reason reason = team->id.size == 1          ? REASON_ONE_RANK
                         : hud_team_is_present(team) ? REASON_NONE
                                                     : REASON_ABSENT;
    if (reason == REASON_ABSENT)
        hud_presence_explain(
            &(struct presence_of_team){ c, &team->hooks.exchange, team->id.rank, team->id.size });
    if (reason == REASON_NONE) {
        reason = allocate(&s) ? run_rounds(&s) : REASON_PRIVATE;
        if (reason != REASON_NONE)
            explain(&s, reason);
    }
    if (reason == REASON_NONE) {
        team->state.now = TEAM_READY;
    } else if (reason == REASON_EARLY) {
        team->state.now = TEAM_EARLY;
        team->state.reason = reason;
    } else {
        /* If the exchange failed here only, other members use the slice: keep it reserved. */
        bool unused = s.offset != 0 && (reason != REASON_EXCHANGE || s.garbled);
        pthread_mutex_lock(&c->lock);
        if (unused)
            hud_arena_cancel(&c->memory.arena, s.offset, PLACE_OFFSET + place_bytes(team->id.size));
        pthread_mutex_unlock(&c->lock);
        if (unused)
            hud_learn_unshare(team, s.known);
        refuse(team, reason);
    }
    release(&s, reason);
}

/* Sets a team up.  Another thread may have received the words of other ranks.  The MPI orders
 * that by instructions hidden from ThreadSanitizer, which would report a race. */
void hud_setup_run(struct hud_team *team, struct fiber_task *task)
{
    sanitizer_ignore_begin();
    set_up(team, task);
    sanitizer_ignore_end();
}
