/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_request_order.c - the order of calls: places among a team's requests, and blocking calls
 * while requests are in flight.
 */
#define _GNU_SOURCE
#include "core/team/team.h"
#include "requested.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void start_out_of_turn(struct rank *me)
{
    hud_team *team = me->teams[0].team;
    int first = 0, second = 0, third = 0;
    char byte = 0;
    hud_request *one = create(me, team, "bcast", &(struct hud_view){ .base = &byte, .bytes = 1 },
                              &first),
                *two = create(me, team, NULL, NULL, &second),
                *three = create(me, team, "barrier", NULL, &third);

    MUST(me, hud_request_start(two) == HUD_PASS && second == 0);
    MUST(me, hud_request_start(one) == HUD_OK);
    ranks_meet(me);
    MUST(me, hud_request_start(two) == HUD_OK);
    MUST(me, hud_request_start(three) == HUD_OK);
    hud_team_flush(team);
    MUST(me, first == 1 && second == 1 && third == 0);
    finish(me, three, HUD_OK);
    finish(me, two, HUD_PASS);
    finish(me, one, HUD_PASS);
    MUST(me, first == 1 && second == 1 && third == 0);
}

/* Starts a place, which waits for its turn before the set-up, but not after, because huddle then
 * handles all calls before the place. */
static void start_an_early_place(struct rank *me)
{
    int first = 0, second = 0, done;
    hud_request *one = create(me, me->teams[0].team, "barrier", NULL, &first), *two = NULL;

    hud_request_create(me->teams[0].team, &(struct hud_args){ .collective = HUD_PLACE_EARLY },
                       &(struct hud_passed){ count, &second }, &two);
    for (int turn = 0; turn < 2; turn++) {
        MUST(me, me->rank != 0 || hud_request_start(one) == HUD_OK);
        MUST(me, me->rank != 0 || hud_request_start(two) == (turn == 0 ? HUD_OK : HUD_PASS));
        MUST(me, me->rank != 0 || (hud_request_peek(one, &done) == HUD_OK && !done));
        ranks_meet(me);
        MUST(me, me->rank == 0 || hud_request_start(one) == HUD_OK);
        MUST(me, hud_request_wait(one) == HUD_OK);
        hud_team_flush(me->teams[0].team);
    }
    MUST(me, first == 0 && second == (me->rank == 0));
}

/* Starts early places. An early place does not wait if its turn has not come at the end of the
 * set-up. Otherwise a member could wait for the place of another member, which started at once. A
 * HUD_PLACE_NOW starts at once or in its turn. */
static void start_places_before_their_turn(struct rank *me)
{
    hud_team *team = me->teams[0].team;
    int passed = 0, started = 0, done;
    hud_request *one = create(me, team, "barrier", NULL, &passed),
                *two = create(me, team, "barrier", NULL, &passed), *places[3];

    for (int i = 0; i < 3; i++)
        hud_request_create(
            team, &(struct hud_args){ .collective = i < 2 ? HUD_PLACE_EARLY : HUD_PLACE_NOW },
            &(struct hud_passed){ count, &started }, &places[i]);
    if (me->rank == 0) {
        MUST(me, hud_request_start(one) == HUD_OK);
        MUST(me, hud_request_start(two) == HUD_OK);
        for (int i = 0; i < 3; i++)
            MUST(me, hud_request_start(places[i]) == HUD_OK);
    }
    ranks_meet(me);
    if (me->rank != 0)
        MUST(me, hud_request_start(one) == HUD_OK);
    MUST(me, hud_request_wait(one) == HUD_OK);
    if (me->rank == 0) {
        for (int i = 0; i < 2; i++)
            MUST(me, hud_request_wait(places[i]) == HUD_PASS);
        MUST(me, started == 2);
        MUST(me, hud_request_peek(two, &done) == HUD_OK && !done);
        MUST(me, hud_request_start(places[0]) == HUD_OK); /* comes after request two */
    }
    ranks_meet(me);
    if (me->rank != 0)
        MUST(me, hud_request_start(two) == HUD_OK);
    MUST(me, hud_request_wait(two) == HUD_OK);
    finish(me, one, HUD_OK);
    finish(me, two, HUD_OK);
    hud_team_flush(team);
    MUST(me, passed == 0 && started == (me->rank == 0 ? 4 : 0));
    for (int i = 0; i < 3; i++)
        hud_request_free(places[i]);
}

static void places_keep_their_order(void **state)
{
    static const char *const settings[] = { "HUDDLE_BCAST=mpi", "HUDDLE_LOG=quiet", NULL };

    (void)state;
    on_ranks(3, 1, settings, start_out_of_turn);
    on_ranks(2, 1, plain, start_an_early_place);
    on_ranks(2, 1, plain, start_places_before_their_turn);
}

/* Makes each rank wait for a request of a team whose other member waits in a blocking call on
 * another team. */
static void wait_crosswise(struct rank *me)
{
    int passed = 0;
    hud_request *r = NULL;

    for (int i = 0; i < 20; i++) {
        r = create(me, me->teams[0].team, "barrier", NULL, &passed);
        MUST(me, hud_request_start(r) == HUD_OK);
        if ((i + me->rank) % 2 != 0)
            MUST(me, hud_request_wait(r) == HUD_OK);
        MUST(me, hud_barrier(me->teams[1].team) == HUD_OK); /* the first call includes the set-up */
        finish(me, r, HUD_OK);
    }
    MUST(me, passed == 0);
}

static void blocking_calls_advance_other_teams(void **state)
{
    (void)state;
    on_ranks(4, 2, plain, wait_crosswise);
}

static void start_before_a_barrier(struct rank *me)
{
    hud_team *team = me->teams[0].team;
    int passed = 0, numbers[3] = { 0 };
    hud_request *r[3];

    for (int i = 0; i < 3; i++) {
        numbers[i] = me->rank == 0 ? i + 1 : 0;
        r[i] = create(me, team, "bcast", &(struct hud_view){ .base = &numbers[i], .bytes = 4 },
                      &passed);
        MUST(me, hud_request_start(r[i]) == HUD_OK);
    }
    MUST(me, hud_barrier(team) == HUD_OK);
    for (int i = 0; i < 3; i++) {
        MUST(me, numbers[i] == i + 1); /* the barrier comes after the broadcasts */
        finish(me, r[i], HUD_OK);
    }
}

static void blocking_call_comes_after_requests(void **state)
{
    (void)state;
    on_ranks(4, 1, plain, start_before_a_barrier);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places_keep_their_order),
        cmocka_unit_test(blocking_calls_advance_other_teams),
        cmocka_unit_test(blocking_call_comes_after_requests),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
