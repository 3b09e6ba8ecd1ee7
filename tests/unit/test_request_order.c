/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_request_order.c - what comes before what: places among a team's requests, blocking calls
 * while requests are in flight.
 */
#define _GNU_SOURCE
#include "core/team/team.h"
#include "requested.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void in_order(struct gang_member *m)
{
    hud_team *team = m->team[0].team;
    int first = 0, second = 0, third = 0;
    char byte = 0;
    hud_request *one = create(m, team, "bcast", &(struct hud_view){ .base = &byte, .bytes = 1 },
                              &first),
                *two = create(m, team, NULL, NULL, &second),
                *three = create(m, team, "barrier", NULL, &third);

    MUST(m, hud_request_start(two) == HUD_PASS && second == 0);
    MUST(m, hud_request_start(one) == HUD_OK);
    gang_meet(m);
    MUST(m, hud_request_start(two) == HUD_OK);
    MUST(m, hud_request_start(three) == HUD_OK);
    hud_team_flush(team);
    MUST(m, first == 1 && second == 1 && third == 0);
    finish(m, three, HUD_OK);
    finish(m, two, HUD_PASS);
    finish(m, one, HUD_PASS);
    MUST(m, first == 1 && second == 1 && third == 0);
}

/* A place waits for its turn before the set-up, and not after it: all before it is huddle's. */
static void early(struct gang_member *m)
{
    int first = 0, second = 0, done;
    hud_request *one = create(m, m->team[0].team, "barrier", NULL, &first), *two = NULL;

    hud_request_create(m->team[0].team, &(struct hud_args){ .collective = HUD_PLACE_EARLY },
                       &(struct hud_passed){ count, &second }, &two);
    for (int turn = 0; turn < 2; turn++) {
        MUST(m, m->rank != 0 || hud_request_start(one) == HUD_OK);
        MUST(m, m->rank != 0 || hud_request_start(two) == (turn == 0 ? HUD_OK : HUD_PASS));
        MUST(m, m->rank != 0 || (hud_request_peek(one, &done) == HUD_OK && !done));
        gang_meet(m);
        MUST(m, m->rank == 0 || hud_request_start(one) == HUD_OK);
        MUST(m, hud_request_wait(one) == HUD_OK);
        hud_team_flush(m->team[0].team);
    }
    MUST(m, first == 0 && second == (m->rank == 0));
}

/* Nor does an early one wait where its turn has not come when the set-up is over: a member may wait
 * for that of another one, which started at once.  One that is now or in its turn does. */
static void passing_by(struct gang_member *m)
{
    hud_team *team = m->team[0].team;
    int passed = 0, started = 0, done;
    hud_request *one = create(m, team, "barrier", NULL, &passed),
                *two = create(m, team, "barrier", NULL, &passed), *places[3];

    for (int i = 0; i < 3; i++)
        hud_request_create(
            team, &(struct hud_args){ .collective = i < 2 ? HUD_PLACE_EARLY : HUD_PLACE_NOW },
            &(struct hud_passed){ count, &started }, &places[i]);
    if (m->rank == 0) {
        MUST(m, hud_request_start(one) == HUD_OK);
        MUST(m, hud_request_start(two) == HUD_OK);
        for (int i = 0; i < 3; i++)
            MUST(m, hud_request_start(places[i]) == HUD_OK);
    }
    gang_meet(m);
    if (m->rank != 0)
        MUST(m, hud_request_start(one) == HUD_OK);
    MUST(m, hud_request_wait(one) == HUD_OK);
    if (m->rank == 0) {
        for (int i = 0; i < 2; i++)
            MUST(m, hud_request_wait(places[i]) == HUD_PASS);
        MUST(m, started == 2);
        MUST(m, hud_request_peek(two, &done) == HUD_OK && !done);
        MUST(m, hud_request_start(places[0]) == HUD_OK); /* behind that one */
    }
    gang_meet(m);
    if (m->rank != 0)
        MUST(m, hud_request_start(two) == HUD_OK);
    MUST(m, hud_request_wait(two) == HUD_OK);
    finish(m, one, HUD_OK);
    finish(m, two, HUD_OK);
    hud_team_flush(team);
    MUST(m, passed == 0 && started == (m->rank == 0 ? 4 : 0));
    for (int i = 0; i < 3; i++)
        hud_request_free(places[i]);
}

static void places_keep_their_order(void **state)
{
    static const char *const settings[] = { "HUDDLE_BCAST=mpi", "HUDDLE_LOG=quiet", NULL };

    (void)state;
    on_ranks(3, 1, settings, in_order);
    on_ranks(2, 1, plain, early);
    on_ranks(2, 1, plain, passing_by);
}

/* Each waits for a request of a team whose other member waits in a blocking call of another one. */
static void crossed(struct gang_member *m)
{
    int passed = 0;
    hud_request *r = NULL;

    for (int i = 0; i < 20; i++) {
        r = create(m, m->team[0].team, "barrier", NULL, &passed);
        MUST(m, hud_request_start(r) == HUD_OK);
        if ((i + m->rank) % 2 != 0)
            MUST(m, hud_request_wait(r) == HUD_OK);
        MUST(m, hud_barrier(m->team[1].team) == HUD_OK); /* at first, its set-up */
        finish(m, r, HUD_OK);
    }
    MUST(m, passed == 0);
}

static void blocking_calls_advance_other_teams(void **state)
{
    (void)state;
    on_ranks(4, 2, plain, crossed);
}

static void overtaken(struct gang_member *m)
{
    hud_team *team = m->team[0].team;
    int passed = 0, numbers[3] = { 0 };
    hud_request *r[3];

    for (int i = 0; i < 3; i++) {
        numbers[i] = m->rank == 0 ? i + 1 : 0;
        r[i] = create(m, team, "bcast", &(struct hud_view){ .base = &numbers[i], .bytes = 4 },
                      &passed);
        MUST(m, hud_request_start(r[i]) == HUD_OK);
    }
    MUST(m, hud_barrier(team) == HUD_OK);
    for (int i = 0; i < 3; i++) {
        MUST(m, numbers[i] == i + 1); /* it came after them */
        finish(m, r[i], HUD_OK);
    }
}

static void a_blocking_call_comes_after_requests(void **state)
{
    (void)state;
    on_ranks(4, 1, plain, overtaken);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places_keep_their_order),
        cmocka_unit_test(blocking_calls_advance_other_teams),
        cmocka_unit_test(a_blocking_call_comes_after_requests),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
