/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/team/round.h"

#include "core/team/requests.h"

#include <sched.h>

void hud_round_await(struct hud_context *context, struct strand *strand, bool (*ask)(void *arg),
                     void *arg)
{
    enum { TURNS_PER_YIELD = 4 }; /* a turn is a call of the host's or two */

    if (strand) {
        hud_strand_ask(strand, ask, arg);
        return;
    }
    for (unsigned turn = 1; !ask(arg); turn++) {
        hud_request_progress(context);
        if (turn % TURNS_PER_YIELD == 0)
            sched_yield();
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
