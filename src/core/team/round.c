/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * round.c - waits during the set-up of a team.
 *
 * The rank polls, and yields now and then.  If a yield takes longer than LOST_NS, the processor was
 * used by a process that does not wait.  With each yield such a process gets a time slice of some
 * milliseconds.  So for TIMES the lost time, the rank does not yield.  The rank polls for AWAKE_NS,
 * which suffices if the other ranks are running.  Then it sleeps between polls, since a process
 * that wakes up gets the processor back at once.  mem/wait.c does the same in collectives.
 */
#define _GNU_SOURCE
#include "core/team/round.h"

#include "base/clock.h"

#include <sched.h>
#include <time.h>

enum {
    TURNS_PER_REST = 4,  /* a turn makes one or two calls of the host */
    LOST_NS = 1000000,   /* other ranks that set up a team give the processor back sooner */
    STOP_NS = 100000000, /* a longer yield means that the whole program or machine was stopped */
    TIMES = 16,
    AWAKE_NS = 20000, /* approximate cost of a sleep and a wake-up */
    SLEEP_NS = 10000
};

static void rest(struct hud_context *context, uint64_t began_ns)
{
    const struct timespec sleep = { .tv_nsec = SLEEP_NS };
    uint64_t now = clock_ns();

    if (now < local_load(&context->machine.no_yield_until_ns)) {
        if (now - began_ns > AWAKE_NS)
            nanosleep(&sleep, NULL);
        return;
    }
    sched_yield();
    uint64_t took = clock_ns() - now;
    if (took > LOST_NS && took < STOP_NS)
        local_store(&context->machine.no_yield_until_ns, now + TIMES * took);
}

void hud_round_await(struct hud_context *context, struct fiber_task *task, bool (*ask)(void *arg),
                     void *arg)
{
    uint64_t began_ns = 0;

    if (task) {
        hud_fiber_task_ask(task, ask, arg);
        return;
    }
    for (unsigned turn = 1; !ask(arg); turn++) {
        context->calls.queues.progress(context->calls.queues.arg);
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

    hud_round_await(pause->context, pause->task, answer_yes, &asked);
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

bool hud_round_gather(struct hud_team *team, struct fiber_task *task, const void *mine,
                      size_t bytes, void *all)
{
    const struct hud_exchange *x = &team->hooks.exchange;
    struct round round = { .exchange = x, .mine = mine, .bytes = bytes, .all = all };

    if (task || x->start_allgather)
        hud_round_await(team->context, task, test_round, &round);
    else
        round.rc = x->allgather(x->arg, mine, bytes, all);
    return round.rc == 0;
}
