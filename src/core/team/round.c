/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * round.c - how a set-up waits.
 *
 * It asks, and yields now and then.  A yield that takes LOST_NS means that another process used the
 * processor, one that does not wait: with each yield such a process gets a time slice, of
 * milliseconds.  So for TIMES what was lost the rank does not yield.  It asks for AWAKE_NS, which
 * is enough where the others run meanwhile, and then sleeps between its questions: a sleeper gets
 * the processor back as soon as it wakes.  (mem/wait.c does so in collectives.)
 */
#define _GNU_SOURCE
#include "core/team/round.h"

#include "core/clock.h"
#include "core/team/requests.h"

#include <sched.h>
#include <time.h>

enum {
    TURNS_PER_REST = 4,  /* a turn is a call of the host's or two */
    LOST_NS = 1000000,   /* ranks that set up a team, too, give the processor back sooner */
    STOP_NS = 100000000, /* not a lost processor: the whole program, or machine, stood still */
    TIMES = 16,
    AWAKE_NS = 20000, /* about what a sleep and its wake cost */
    SLEEP_NS = 10000
};

static void rest(struct hud_context *context, uint64_t began_ns)
{
    const struct timespec sleep = { .tv_nsec = SLEEP_NS };
    uint64_t now = clock_ns();

    if (now < local_time(&context->no_yield_until_ns)) {
        if (now - began_ns > AWAKE_NS)
            nanosleep(&sleep, NULL);
        return;
    }
    sched_yield();
    uint64_t took = clock_ns() - now;
    if (took > LOST_NS && took < STOP_NS)
        local_tell(&context->no_yield_until_ns, now + TIMES * took);
}

void hud_round_await(struct hud_context *context, struct strand *strand, bool (*ask)(void *arg),
                     void *arg)
{
    uint64_t began_ns = 0;

    if (strand) {
        hud_strand_ask(strand, ask, arg);
        return;
    }
    for (unsigned turn = 1; !ask(arg); turn++) {
        hud_request_progress(context);
        if (turn % TURNS_PER_REST != 0)
            continue;
        began_ns = began_ns != 0 ? began_ns : clock_ns();
        rest(context, began_ns);
    }
}

static bool answer_yes(void *arg)
{
    bool *asked = arg, was = *asked;

    *asked = true; /* the first answer is no: others go on meanwhile */
    return was;
}

void hud_round_pause(void *arg)
{
    const struct pause *pause = arg;
    bool asked = false;

    hud_round_await(pause->context, pause->strand, answer_yes, &asked);
}

struct round {
    const struct hud_exchange *exchange;
    const void *mine;
    size_t bytes;
    void *all, *pending;
    bool started;
    int rc;
};

static bool test_round(void *arg)
{
    struct round *round = arg;
    const struct hud_exchange *x = round->exchange;
    int done = 0;

    if (!round->started)
        round->rc =
            x->start_allgather(x->arg, round->mine, round->bytes, round->all, &round->pending);
    else
        round->rc = x->test_allgather(x->arg, &round->pending, &done);
    round->started = true;
    return done || round->rc != 0;
}

bool hud_round_gather(struct hud_team *team, struct strand *strand, const void *mine, size_t bytes,
                      void *all)
{
    const struct hud_exchange *x = &team->exchange;
    struct round round = { .exchange = x, .mine = mine, .bytes = bytes, .all = all };

    if (strand || x->start_allgather)
        hud_round_await(team->context, strand, test_round, &round);
    else
        round.rc = x->allgather(x->arg, mine, bytes, all);
    return round.rc == 0;
}
