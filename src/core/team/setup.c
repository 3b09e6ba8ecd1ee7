/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * setup.c - a team's lease, in two allgathers of the host's own.
 *
 *   round 1   every rank says who it is, where its arena is and how much it offers (hello.c); all
 *             reach the same verdict
 *   between   each rank maps the arenas it has not mapped yet, then reserves, commits and zeroes
 *             the smallest offer of its own arena; rank 0 writes into its slice where the ranks
 *             are, as it sees the machine
 *   round 2   (status, offset): one refusal refuses for all
 *
 * A refusal holds for the team's life: the ranks agree at every later call.  No lock is held across
 * a round.  A team that begins later (HUDDLE_FIRST) has a first round at its first collective too.
 */
#include "core/team/setup.h"
#include "core/arena/direct.h"
#include "core/check/check.h"
#include "core/config/log.h"
#include "core/team/longwait.h"
#include "core/team/place.h"
#include "core/team/policy.h"
#include "core/team/round.h"
#include "core/team/span.h"
#include "fiber/sanitizers.h"

#include <stdio.h>
#include <stdlib.h>

struct setup {
    struct hud_team *team;
    struct strand *strand;  /* that it runs on, or NULL */
    union hello *hello;     /* [size] */
    struct peer_card *card; /* [size] */
    struct reply *reply;    /* [size] */
    int *unit, *groups;     /* memory for read_place */
    struct place_table *place;
    struct plan *plan;    /* memory for the team's */
    char **base;          /* [size] arenas */
    size_t bytes, offset; /* of the slice */
    unsigned direct;      /* ways in which this rank reaches the others' memory; at last, all do */
    bool quick;           /* and the kernel copies quickly for it; at last, for all */
    union hello *spare;   /* in use as hello, or NULL */
    bool no_memory;       /* hello is the context's spare, to refuse in the first round */
    int who;              /* the rank that a refusal is about */
    bool garbled;         /* REASON_EXCHANGE: what that rank said, not the exchange itself */
};

static struct place_table *place_of(char *slice)
{
    return (struct place_table *)(void *)(slice + PLACE_OFFSET);
}

/* All ranks read rank 0's table, into memory that was there before the rounds: nothing can fail any
 * more. */
static void read_place(struct setup *s)
{
    struct hud_team *team = s->team;
    struct place_table *table = s->place;

    hud_place_read(place_of(team->slices[0]), team->size, table);
    team->levels = table->levels;
    team->cache_bytes = (size_t)table->cache_bytes;
    memcpy(team->place_name, table->name, sizeof team->place_name);
    for (int i = 0; i < table->levels * team->size; i++)
        s->unit[i] = table->unit[i];
    struct shape_place place = { .ranks = team->size, .levels = table->levels, .unit = s->unit };
    hud_shape_groups_build_in(&place, s->groups, &team->groups);
    s->groups = NULL;
}

/* Of the slice.  Calls that are all alike are of the most bytes that any member has given, and may
 * need more than is on offer. */
static size_t plan_bytes(struct setup *s, bool *reaches)
{
    struct hud_team *team = s->team;
    struct planner *planner = team->context->planner;
    size_t offer = s->bytes;

    if (!team->only.is)
        return hud_plan_bytes(planner, team->size, offer, true, reaches);
    for (int r = 0; r < team->size; r++)
        if (s->hello[r].is.only_bytes > team->only.bytes)
            team->only.bytes = (size_t)s->hello[r].is.only_bytes;
    size_t needed = hud_plan_only_bytes(planner, team->size, &team->only, &s->bytes, reaches);
    return needed <= offer ? needed : 0;
}

/* Between the rounds. */
static enum reason prepare(struct setup *s)
{
    struct hud_team *team = s->team;
    struct hud_context *c = team->context;
    const char *why = "";
    bool reaches;

    for (int r = 0; r < team->size; r++)
        s->card[r] = s->hello[r].is.card;
    int missing = hud_peers_map(&c->peers, &c->arena, s->card, team->size, team->rank,
                                hud_round_pause, &(struct pause){ c, s->strand }, s->base);
    if (missing != 0) {
        hud_log(&c->config, LOG_INFO, "the arena of rank %d of a team cannot be reached",
                missing - 1);
        return REASON_REACH;
    }
    pthread_mutex_lock(&c->lock);
    team->bytes = plan_bytes(s, &reaches);
    pthread_mutex_unlock(&c->lock);
    if (reaches)
        s->direct = hud_peers_direct(&c->peers, s->card, team->size, team->rank,
                                     hud_context_ways(c), team->peers, team->mapped);
    s->quick = (s->direct & DIRECT_CALLS) &&
               (c->config.number[SET_CMA] == SINGLE_COPY_ON || hud_direct_is_quick());
    if (team->bytes == 0)
        return REASON_LEASE;
    pthread_mutex_lock(&c->lock);
    if (c->config.number[SET_PLACEMENT] == SWITCH_OFF)
        hud_arena_aim(&c->arena, s->hello[0].is.node);
    s->offset = hud_arena_reserve(&c->arena, team->bytes, team->size, &why);
    pthread_mutex_unlock(&c->lock);
    if (s->offset == 0) {
        hud_log(&c->config, LOG_INFO, "no lease of %zu bytes: %s", team->bytes, why);
        return REASON_LEASE;
    }
    if (team->rank == 0)
        hud_place_write(team, s->hello, place_of(s->base[0] + s->offset));
    return REASON_NONE;
}

/* The plan for these ranks where they are, in memory that was there before the rounds. */
static void take_plan(struct setup *s)
{
    struct hud_team *team = s->team;
    struct hud_context *c = team->context;
    struct plan_facts facts = { .ranks = team->size,
                                .only = team->only,
                                .oversubscribed = s->place->oversubscribed != 0,
                                .direct = s->direct != 0,
                                .intel = s->place->intel != 0,
                                .quick = s->direct & DIRECT_MAPPED ? c->peers.keeps : s->quick };

    hud_plan_locate(s->place, &facts);
    team->plan = hud_context_plan(c, &facts, s->bytes, &s->plan);
    if (team->rank == 0 && !team->only.is)
        hud_context_say_plan(c, team->plan);
    pthread_mutex_lock(&c->lock);
    hud_place_keep(&c->places, &s->place, s->hello, team->size);
    pthread_mutex_unlock(&c->lock);
}

/* After the second round: everything is there. */
static void take_up(struct setup *s)
{
    struct hud_team *team = s->team;

    for (int r = 0; r < team->size; r++)
        team->slices[r] = s->base[r] + s->reply[r].offset;
    team->offset = s->offset;
    team->timed = team->context->timed;
    read_place(s);
    take_plan(s);
    hud_longwait_begin(team, s->card, s->reply[0].offset);
    hud_policy_make(team, s->hello);
    hud_policy_take(team);
    team->mem_team.peers = s->direct != 0 ? team->peers : NULL;
    team->mem_team.mapped = s->direct & DIRECT_MAPPED ? team->mapped : NULL;
    team->mem_team.reach = MEMBER_OFFSET + offsetof(struct member_state, reach);
    if (team->check)
        hud_check_start(team, s->card);
    hud_adapt_start(team);
    if (team->rank == 0)
        hud_log(&team->context->config, LOG_DEBUG,
                "a team of %d ranks is ready: %zu KiB of each rank, %s single copy", team->size,
                s->bytes >> 10, s->direct != 0 ? "with" : "no");
}

static enum reason run_rounds(struct setup *s)
{
    struct hud_team *team = s->team;
    struct reply mine;
    union hello own;

    hud_hello_make(team, &own);
    if (s->no_memory && own.is.reason == REASON_NONE)
        own.is.reason = REASON_PRIVATE;
    if (!hud_round_gather(team, s->strand, &own, sizeof own, s->hello))
        return REASON_EXCHANGE;
    enum reason reason = hud_hello_verdict(s->hello, team->size, &s->bytes, &s->who);
    if (reason == REASON_NODES && hud_span_wanted(team)) {
        reason = hud_span_setup(team, s->strand, s->hello, s->reply, &s->who);
        return reason == REASON_NONE ? REASON_NODES : reason;
    }
    s->garbled = reason == REASON_EXCHANGE;
    if (reason != REASON_NONE)
        return reason;
    hud_hello_explain_pages(team, s->hello);
    mine = (struct reply){ .reason = prepare(s) };
    mine.offset = s->offset;
    mine.direct = (uint16_t)s->direct;
    mine.quick = s->quick;
    if (!hud_round_gather(team, s->strand, &mine, sizeof mine, s->reply))
        return REASON_EXCHANGE;
    reason = hud_reply_verdict(s->reply, s->hello, team->size, team->bytes, &s->who);
    s->garbled = reason == REASON_EXCHANGE;
    bool out_of_reach = false;
    for (int r = 0; r < team->size; r++) {
        s->direct &= s->reply[r].direct;
        s->quick = s->quick && s->reply[r].quick;
        out_of_reach = out_of_reach || s->reply[r].reason == REASON_REACH;
    }
    if (out_of_reach)
        hud_peers_send_again(&team->context->peers, s->card, team->size);
    if (reason == REASON_NONE)
        take_up(s);
    return reason;
}

/* World rank 0 has said the same line when it read its settings. */
static bool rank_0_said_it(const struct setup *s)
{
    bool said = false;

    for (int r = 0; r < s->team->size; r++)
        said = said || (s->hello[r].is.world_rank == 0 &&
                        s->hello[r].is.complaint == s->hello[s->who].is.complaint);
    return said;
}

/* What a user should know is reported in one line by one rank; the rest is for statistics. */
static void explain(const struct setup *s, enum reason reason)
{
    struct hud_team *team = s->team;
    struct hud_context *c = team->context;
    bool ours = team->rank == s->who, first = team->rank == 0;
    int me = c->host.world_size > 0 ? c->host.world_rank : team->rank;
    char line[3 * SET_TEXT] = "";

    if (reason == REASON_SETTING && ours && !rank_0_said_it(s))
        snprintf(line, sizeof line, "rank %d: %s", me, c->config.error);
    else if (reason == REASON_DIFFER && first)
        hud_hello_describe_difference(s->hello, s->who, c->host.world_size > 0, line, sizeof line);
    else if (reason == REASON_ARENA && ours)
        snprintf(line, sizeof line, "rank %d has no shared memory (HUDDLE_MEMORY=%s): %s", me,
                 c->config.text[SET_MEMORY], c->arena_why);
    else if (reason == REASON_LEASE && first && !team->only.is &&
             hud_context_tells_memory(c, SET_MEMORY))
        snprintf(line, sizeof line, "HUDDLE_MEMORY=%s has no room for a team of %d ranks",
                 c->config.text[SET_MEMORY], team->size);
    else if (reason == REASON_REACH && ours)
        snprintf(line, sizeof line,
                 "rank %d cannot reach the shared memory of others: the kernel separates them, or "
                 "a limit (ulimit -v, ulimit -n) leaves no room",
                 me);
    else if (reason == REASON_PRIVATE && ours)
        snprintf(line, sizeof line, "rank %d is out of private memory", me);
    else if (reason == REASON_EXCHANGE && first && s->garbled)
        snprintf(line, sizeof line, "rank %d sent invalid set-up data", s->who);
    else if (reason == REASON_VERSION && first)
        snprintf(line, sizeof line, "ranks 0 and %d run different versions of huddle", s->who);
    hud_context_say(c, reason, line[0] != '\0' ? line : NULL);
}

/* What the set-up needs, before the first round.  False: not even a way to say no. */
static bool allocate(struct setup *s)
{
    size_t ranks = (size_t)s->team->size;
    struct hud_context *c = s->team->context;

    s->hello = calloc(ranks, sizeof *s->hello);
    s->card = calloc(ranks, sizeof *s->card);
    s->reply = calloc(ranks, sizeof *s->reply);
    s->base = calloc(ranks, sizeof *s->base);
    s->place = calloc(1, hud_place_kept_bytes(s->team->size));
    s->unit = calloc(SHAPE_LEVELS * ranks, sizeof *s->unit);
    s->groups = calloc(hud_shape_groups_ints(s->team->size, s->team->size), sizeof *s->groups);
    s->plan = malloc(sizeof *s->plan);
    free(s->team->slices); /* of an early round */
    s->team->slices = calloc(ranks, sizeof *s->team->slices);
    free(s->team->peers);
    s->team->peers = calloc(ranks, sizeof *s->team->peers);
    free(s->team->mapped);
    s->team->mapped = calloc(ranks, sizeof *s->team->mapped);
    free(s->team->process);
    s->team->process = calloc(ranks, sizeof *s->team->process);
    s->team->check = hud_checks(c) ? hud_check_create(s->team) : NULL;
    bool checked = (s->team->check || !hud_checks(c)) && c->planner && hud_rules_builtin();
    if (s->hello && s->card && s->reply && s->base && s->place && s->unit && s->groups && s->plan &&
        s->team->slices && s->team->peers && s->team->mapped && s->team->process && checked &&
        hud_adapt_create(s->team))
        return true;
    s->no_memory = true;
    if (!s->hello && s->team->size <= c->spare_ranks && local_claim(&c->spare_used))
        s->hello = s->spare = c->spare;
    return s->hello != NULL;
}

/* Of a set-up that has ended; the team keeps what is its own. */
static void release(struct setup *s, enum reason reason)
{
    if (reason == REASON_EXCHANGE && !s->garbled) { /* messages may still read what they carry */
        s->team->carried[0] = s->spare ? NULL : s->hello;
        s->team->carried[1] = s->reply;
        s->hello = NULL;
        s->reply = NULL;
    } else if (s->spare) {
        local_release(&s->team->context->spare_used);
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
    team->state = TEAM_REFUSED;
    team->reason = reason;
    hud_check_free(team);
    if (team->span) {
        hud_log(&team->context->config, LOG_DEBUG, "a team of %d ranks spans %d nodes", team->size,
                team->span->map.nodes);
        return;
    }
    mem_count(&context_stats(team->context)->teams_refused, 1, team->context->host.threads);
    hud_log(&team->context->config, LOG_DEBUG, "a team of %d ranks falls back to the MPI: %s",
            team->size, hud_reason_text[reason]);
    if (hud_checks(team->context))
        hud_log(&team->context->config, LOG_INFO, "a team of %d ranks is not checked: %s",
                team->size, hud_reason_text[reason]);
}

static void set_up(struct hud_team *team, struct strand *strand)
{
    struct setup s = { .team = team, .strand = strand, .no_memory = team->declined };
    struct hud_context *c = team->context;

    if (++team->calls < c->config.number[SET_FIRST] && team->state == TEAM_EARLY)
        return;
    enum reason reason = team->size == 1             ? REASON_ONE_RANK
                         : hud_team_is_present(team) ? REASON_NONE
                                                     : REASON_ABSENT;
    if (reason == REASON_ABSENT)
        hud_team_explain_absence(team);
    if (reason == REASON_NONE) {
        reason = allocate(&s) ? run_rounds(&s) : REASON_PRIVATE;
        if (reason != REASON_NONE)
            explain(&s, reason);
    }
    if (reason == REASON_NONE) {
        team->state = TEAM_READY;
    } else if (reason == REASON_EARLY) {
        team->state = TEAM_EARLY;
        team->reason = reason;
    } else {
        /* a member that the exchange did not fail for uses the slice: then it stays leased */
        bool unused = s.offset != 0 && (reason != REASON_EXCHANGE || s.garbled);
        pthread_mutex_lock(&c->lock);
        if (unused)
            hud_arena_release(&c->arena, s.offset);
        pthread_mutex_unlock(&c->lock);
        refuse(team, reason);
    }
    release(&s, reason);
}

/*
 * Another thread may have received what the ranks tell each other.  The MPI orders that by
 * instructions that ThreadSanitizer does not see, so it would report a race.
 */
void hud_team_setup(struct hud_team *team, struct strand *strand)
{
    sanitizer_look_away();
    set_up(team, strand);
    sanitizer_look_again();
}

void hud_team_leave(struct hud_team *team)
{
    struct hud_context *c = team->context;

    hud_longwait_leave(team);
    hud_shm_vacate_leave(&team->mem);
    pthread_mutex_lock(&c->lock);
    hud_arena_leave(&c->arena, team->offset, team->size);
    pthread_mutex_unlock(&c->lock);
    hud_context_drop(c, team->plan);
}
