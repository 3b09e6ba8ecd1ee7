/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sched.c - chooses the rank that runs next.  At every call of mem.h the ready rank with the
 * highest score runs; a strategy is a function that computes scores.
 *
 * A rank that peeks repeatedly while nothing is posted runs only when no other rank can.  So no
 * strategy spins for ever.
 */
#include "base/hash.h"
#include "check/grow.h"
#include "check/time.h"

enum {
    STACK_BYTES = 256 * 1024,
    QUIET_EVENTS = 200 * 1000, /* calls of one rank without any post, after which the run fails */
    BURST_EVENTS = 16,         /* average length of a burst */
    FALL_EVENTS = 64           /* average calls between two changes of importance */
};

const char *const hud_sim_strategies[SIM_STRATEGIES + 1] = { "random", "burst",    "block",
                                                             "starve", "priority", NULL };

/* Returns the next number of the generator splitmix64. */
static uint64_t draw(struct sim *s)
{
    return hash_mix(s->random += HASH_STEP);
}

uint64_t hud_sim_random(struct sim *s, uint64_t max)
{
    return max == UINT64_MAX ? draw(s) : draw(s) % (max + 1);
}

static uint64_t score_random(struct sim *s, struct sim_rank *r)
{
    (void)r;
    return draw(s);
}

static uint64_t score_burst(struct sim *s, struct sim_rank *r)
{
    uint64_t x = draw(s);

    return r == s->current && x % BURST_EVENTS != 0 ? UINT64_MAX : x;
}

static uint64_t score_block(struct sim *s, struct sim_rank *r)
{
    return r == s->current ? UINT64_MAX : draw(s);
}

static uint64_t score_starve(struct sim *s, struct sim_rank *r)
{
    return r->number == s->starved ? 1 : draw(s) | 2;
}

static uint64_t score_priority(struct sim *s, struct sim_rank *r)
{
    if (r == s->current && draw(s) % FALL_EVENTS == 0)
        r->importance = draw(s) >> 32;
    return r->importance | 2;
}

static uint64_t (*const scores[SIM_STRATEGIES])(struct sim *s, struct sim_rank *r) = {
    [SIM_RANDOM] = score_random, [SIM_BURST] = score_burst,       [SIM_BLOCK] = score_block,
    [SIM_STARVE] = score_starve, [SIM_PRIORITY] = score_priority,
};

/* Returns the ready rank with the highest score, or NULL if no rank is ready. */
static struct sim_rank *pick(struct sim *s)
{
    struct sim_rank *best = NULL;
    uint64_t best_score = 0;

    for (int i = 0; i < sim_ranks(s); i++) {
        struct sim_rank *r = &s->ranks[i];
        if (r->state != SIM_READY)
            continue;
        uint64_t score = scores[s->options.strategy](s, r) >> 1;
        if (r->polls < SIM_PATIENCE || r->moves != s->moves)
            score |= UINT64_C(1) << 63;
        if (!best || score > best_score) {
            best = r;
            best_score = score;
        }
    }
    return best;
}

/* Resets the rank's counts since the last post if there was a newer post. */
static void count_anew(struct sim_rank *r)
{
    if (r->moves != r->s->moves)
        r->polls = r->quiet = 0;
    r->moves = r->s->moves;
}

void hud_sched_event(struct mem *m, const char *what, const char *file, int line)
{
    struct sim_rank *r = m->self;
    struct sim *s = r->s;

    r->now = sim_event_of(r, what, file, line);
    r->now.call = m->alg ? (unsigned)m->calls + 1 : 0;
    r->in = m;
    s->events++;
    count_anew(r);
    if (++r->quiet > QUIET_EVENTS)
        hud_sim_fail(s, "no end: %d calls of mem.h and nothing was posted; rank %d %s at %s:%d\n",
                     QUIET_EVENTS, r->number, what, r->now.file, r->now.line);
    if (s->clock) {
        sim_time(s)->step(r);
        return;
    }
    struct sim_rank *next = pick(s);
    if (next == r)
        return;
    s->current = next;
    hud_fiber_suspend(&r->fiber);
}

void hud_sched_block(struct sim_rank *r)
{
    r->state = SIM_BLOCKED;
    r->s->current = NULL;
    hud_fiber_suspend(&r->fiber);
}

void hud_sched_moved(struct sim *s)
{
    s->moves++;
}

bool hud_sched_polls(struct sim_rank *r)
{
    count_anew(r);
    return r->polls++ >= SIM_PATIENCE;
}

void hud_sched_wait(struct sim_rank *r, struct sim_flag *flag, const struct sim_spot *spot,
                    uint64_t min)
{
    r->wait = flag;
    r->wait_arena = spot->owner->number;
    r->wait_offset_bytes = spot->at;
    r->wait_min = min;
    r->next_waiting = flag->waiting;
    flag->waiting = r;
    hud_sched_block(r);
    r->wait = NULL;
}

void hud_sched_wake(struct sim_flag *flag, uint64_t value)
{
    for (struct sim_rank **at = &flag->waiting; *at;) {
        struct sim_rank *r = *at;
        if ((int64_t)(value - r->wait_min) < 0) {
            at = &r->next_waiting;
            continue;
        }
        *at = r->next_waiting;
        r->state = SIM_READY;
    }
}

static void rank_main(void *arg)
{
    struct sim_rank *r = arg;

    if (sigsetjmp(r->bottom, 0) != 0)
        sim_abandon(r);
    r->s->body(r->s, r->number, r->s->arg);
    if (r->s->clock)
        sim_time(r->s)->end(r);
    r->state = SIM_DONE;
    r->s->done++;
    r->s->current = NULL;
}

static void report_deadlock(struct sim *s)
{
    enum { SHOWN = 12 };
    char text[1600];
    int used = 0, blocked = 0;

    for (int i = 0; i < sim_ranks(s); i++) {
        const struct sim_rank *r = &s->ranks[i];
        if (r->state != SIM_BLOCKED || blocked++ >= SHOWN)
            continue;
        if (r->wait)
            used += snprintf(
                text + used, sizeof text - (size_t)used,
                "  rank %d at %s:%d for the flag at slice %d +%zu to reach %llu; it is %llu\n",
                r->number, r->now.file, r->now.line, r->wait_arena, r->wait_offset_bytes,
                (unsigned long long)r->wait_min, (unsigned long long)flag_newest(r->wait)->value);
        else
            used +=
                snprintf(text + used, sizeof text - (size_t)used, "  rank %d at %s:%d for others\n",
                         r->number, r->now.file, r->now.line);
    }
    hud_sim_fail(s, "deadlock: %d of %d ranks wait for ever\n%s", blocked, sim_ranks(s), text);
}

void hud_sched_run(struct sim *s)
{
    for (int r = 0; r < sim_ranks(s); r++) {
        if (!hud_fiber_init(&s->ranks[r].fiber, STACK_BYTES, rank_main, &s->ranks[r]))
            hud_must(NULL);
        s->ranks[r].importance = draw(s) >> 16;
    }
    s->starved = (int)hud_sim_random(s, (uint64_t)sim_ranks(s) - 1);
    s->current = NULL;
    s->done = 0;
    if (s->clock)
        sim_time(s)->begin(s);
    while (!s->failed && s->done < sim_ranks(s)) {
        if (!s->current)
            s->current = s->clock ? sim_time(s)->next(s) : pick(s);
        if (s->current)
            hud_fiber_resume(&s->current->fiber);
        else
            report_deadlock(s);
    }
    for (int r = 0; r < sim_ranks(s); r++)
        hud_fiber_destroy(&s->ranks[r].fiber);
    s->current = NULL;
}
