/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_request_ends.c - requests that fall back or fail, the begin and end of teams with requests
 * in flight, many requests, several threads.
 */
#define _GNU_SOURCE
#include "core/team/team.h"
#include "requested.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

enum { MANY = 100 };

static const char *const off[] = { "HUDDLE_NONBLOCKING=off", "HUDDLE_LOG=quiet", NULL };
static const char *const check[] = { "HUDDLE_CHECK=on", "HUDDLE_LOG=quiet", NULL };

static void begin_and_end(struct rank *me)
{
    hud_team *team = me->teams[0].team;
    int passed = 0, done;
    hud_request *r = create(me, team, "barrier", NULL, &passed);

    MUST(me, hud_request_test(r, &done) == HUD_OK && done); /* not in flight */
    MUST(me, hud_request_start(r) == HUD_OK);
    finish(me, r, HUD_OK);
    MUST(me, team->state.now == TEAM_READY && passed == 0);
    MUST(me, hud_barrier(team) == HUD_OK);
    MUST(me,
         me->context->calls.queues.pool.reserved == 0 && me->context->calls.queues.pool.made == 1);
}

static void request_sets_up_its_team(void **state)
{
    (void)state;
    on_ranks(3, 1, plain, begin_and_end);
}

static void begin_by_a_blocking_call(struct rank *me)
{
    hud_team *team = me->teams[0].team;
    int passed = 0;
    hud_request *r = create(me, team, "barrier", NULL, &passed);

    MUST(me, hud_request_start(r) == HUD_PASS && passed == 0);
    MUST(me, hud_barrier(team) == HUD_OK);
    MUST(me, hud_request_start(r) == HUD_OK);
    finish(me, r, HUD_OK);
    MUST(me, passed == 0);
}

static void blocking_call_sets_up_a_team_without_nonblocking_exchange(void **state)
{
    (void)state;
    ranks_run(&(struct ranks){
        .ranks = 2, .blocking = true, .settings = plain, .body = begin_by_a_blocking_call });
}

/* Creates no team by a request, because the set-up would need progress in waits of the host. */
static void start_with_requests_off(struct rank *me)
{
    hud_team *team = me->teams[0].team;
    int passed = 0;
    hud_request *r = create(me, team, "barrier", NULL, &passed);

    MUST(me, hud_request_start(r) == HUD_PASS && team->state.now == TEAM_NEW);
    MUST(me, hud_barrier(team) == HUD_OK);
    MUST(me, hud_request_start(r) == HUD_PASS);
    finish(me, r, HUD_PASS);
    MUST(me, passed == 0);
}

static void setting_disables_requests(void **state)
{
    (void)state;
    on_ranks(3, 1, off, start_with_requests_off);
}

/* Switches requests off at rank 1. The other ranks learn this when rank 1's first blocking call
 * sets up the team. */
static void start_with_requests_off_on_rank_1(struct rank *me)
{
    hud_team *team = me->teams[0].team;
    int passed = 0;
    hud_request *r = create(me, team, "barrier", NULL, &passed);

    MUST(me, hud_request_start(r) == (me->rank == 1 ? HUD_PASS : HUD_OK));
    if (me->rank == 1)
        finish(me, r, HUD_PASS);
    else
        MUST(me, hud_request_wait(r) == HUD_PASS && passed == 1);
    MUST(me, hud_barrier(team) == HUD_PASS && team->state.reason == REASON_DIFFER);
}

static void ranks_with_different_settings_fall_back(void **state)
{
    (void)state;
    ranks_run(&(struct ranks){ .ranks = 3,
                               .settings = plain,
                               .of_rank = { [1] = off },
                               .body = start_with_requests_off_on_rank_1 });
}

static void start_ten_thousand_requests(struct rank *me)
{
    hud_request **all = calloc((size_t)me->team_count * MANY, sizeof *all);
    int *numbers = calloc((size_t)me->team_count * MANY, sizeof *numbers), passed = 0;

    for (int i = 0; i < me->team_count * MANY; i++) {
        numbers[i] = me->rank == 0 ? i + 1 : 0;
        all[i] = create(me, me->teams[i % me->team_count].team, "bcast",
                        &(struct hud_view){ .base = &numbers[i], .bytes = 4 }, &passed);
        MUST(me, hud_request_start(all[i]) == HUD_OK);
    }
    MUST(me, me->context->calls.queues.pool.made == me->team_count);
    for (int i = 0; i < me->team_count * MANY; i++) {
        int at = (i * 7919 + me->rank * 31) % (me->team_count * MANY);
        finish(me, all[at], HUD_OK);
        MUST(me, numbers[at] == at + 1);
    }
    MUST(me, passed == 0 && hud_progress(me->context) == 0);
    free(all);
    free(numbers);
}

static void ten_thousand_requests_may_be_in_flight(void **state)
{
    static const char *const settings[] = { "HUDDLE_MEMORY=64M", "HUDDLE_LEASE=256K", NULL };

    (void)state;
    on_ranks(2, RANKS_TEAMS, settings, start_ten_thousand_requests);
}

static void free_the_team_first(struct rank *me)
{
    hud_team *team = me->teams[0].team;
    int passed = 0;
    hud_request *r[2];

    for (int i = 0; i < 2; i++) {
        r[i] = create(me, team, "barrier", NULL, &passed);
        MUST(me, hud_request_start(r[i]) == HUD_OK);
    }
    ranks_free_team(&me->teams[0]);
    MUST(me, me->rank != 0 || me->teams[0].released == 0); /* its set-up has not ended */
    ranks_meet(me);
    finish(me, r[1], HUD_OK);
    MUST(me, me->teams[0].released == 1);
    finish(me, r[0], HUD_OK);
    MUST(me, passed == 0);
}

static void team_is_freed_after_its_requests(void **state)
{
    (void)state;
    on_ranks(2, 1, plain, free_the_team_first);
}

/* Leaves requests that are neither waited for nor freed, so the end of the context must do so. */
static void leave_requests_in_flight(struct rank *me)
{
    int passed = 0;

    MUST(me, hud_barrier(me->teams[1].team) == HUD_OK);
#ifdef __SANITIZE_ADDRESS__
    enum { FIRST = 1 }; /* memory to which the host may still write during a set-up is not freed */
#else
    enum { FIRST = 0 };
#endif
    for (int t = FIRST; t < 2; t++)
        if (me->rank == 0)
            MUST(me, hud_request_start(create(me, me->teams[t].team, "barrier", NULL, &passed)) ==
                         HUD_OK);
}

static void context_may_end_with_requests_in_flight(void **state)
{
    (void)state;
    on_ranks(3, 2, plain, leave_requests_in_flight);
}

static void make_different_calls(struct rank *me)
{
    hud_team *team = me->teams[0].team;
    int passed = 0, number = 0;
    hud_request *r =
        me->rank == 0
            ? create(me, team, "barrier", NULL, &passed)
            : create(me, team, "bcast", &(struct hud_view){ .base = &number, .bytes = 4 }, &passed);
    bool checks = hud_context_checks(me->context);

    MUST(me, hud_request_start(r) == HUD_OK);
    finish(me, r, checks ? HUD_PASS : HUD_ERR_UNLIKE);
    MUST(me, passed == checks);
    r = create(me, team, "barrier", NULL, &passed);
    MUST(me, hud_request_start(r) == HUD_OK); /* the barrier waits for members that are behind */
    finish(me, r, checks ? HUD_OK : HUD_PASS);
}

static void different_calls_are_detected(void **state)
{
    (void)state;
    on_ranks(3, 1, check, make_different_calls);
    on_ranks(3, 1, plain, make_different_calls);
}

static void lose_rank_1(struct rank *me)
{
    hud_team *team = me->teams[0].team;
    int passed = 0;
    hud_request *r[2];

    MUST(me, hud_barrier(team) == HUD_OK);
    if (me->rank == 1)
        _exit(0);
    for (int i = 0; i < 2; i++) {
        r[i] = create(me, team, "barrier", NULL, &passed);
        MUST(me, hud_request_start(r[i]) == HUD_OK);
    }
    finish(me, r[0], HUD_ERR_FAILED);
    finish(me, r[1], HUD_PASS);
    MUST(me, passed == 1);
    MUST(me, hud_barrier(team) == HUD_PASS);
}

static void death_of_a_rank_ends_requests(void **state)
{
    (void)state;
    ranks_run(&(struct ranks){ .ranks = 3,
                               .processes = true,
                               .fault_tolerant = true,
                               .settings = plain,
                               .body = lose_rank_1 });
}

/* ---- threads ---- */

static void *use_team(void *arg)
{
    struct rank_team *t = arg;
    struct rank *me = t->of;
    int passed = 0, done;
    unsigned own = (unsigned)(me->rank * 7 + t->number);
    long sum, one = 1;
    struct hud_op add;
    struct hud_args args = { .collective = hud_collective("allreduce"),
                             .in = &(struct hud_view){ .base = &one, .bytes = sizeof one },
                             .out = &(struct hud_view){ .base = &sum, .bytes = sizeof sum },
                             .op = &add };

    hud_op_find(HUD_SUM, HUD_INT64, &add);
    for (int i = 0; i < 300; i++) {
        hud_request *r = NULL;
        sum = 0;
        MUST(me, hud_request_create(t->team, &args, &(struct hud_passed){ count, &passed }, &r) ==
                     HUD_OK);
        MUST(me, hud_request_start(r) == HUD_OK);
        for (done = rand_r(&own) % 2; !done;)
            (void)hud_request_test(r, &done);
        MUST(me, i % 10 != 0 || hud_barrier(t->team) == HUD_OK);
        finish(me, r, HUD_OK);
        MUST(me, sum == me->ranks);
    }
    MUST(me, passed == 0);
    return NULL;
}

static void use_two_threads(struct rank *me)
{
    pthread_t other;

    if (pthread_create(&other, NULL, use_team, &me->teams[1]) != 0)
        abort();
    use_team(&me->teams[0]);
    pthread_join(other, NULL);
}

static void threads_share_a_context(void **state)
{
    (void)state;
    ranks_run(&(struct ranks){ .ranks = 2,
                               .teams = 2,
                               .multithreaded = true,
                               .settings = plain,
                               .body = use_two_threads });
}

static void pass_wrong_arguments(struct rank *me)
{
    hud_request *r = NULL;
    int done;
    struct hud_args args = { .collective = COLL_KINDS };

    MUST(me, hud_request_create(me->teams[0].team, &args, NULL, NULL) == HUD_ERR_ARGUMENT);
    MUST(me, hud_request_create(me->teams[0].team, &args, NULL, &r) == HUD_ERR_ARGUMENT && !r);
    args.collective = COLL_BCAST;
    args.root = me->ranks;
    MUST(me, hud_request_create(me->teams[0].team, &args, NULL, &r) == HUD_ERR_ARGUMENT && !r);
    MUST(me, hud_request_create(NULL, &args, NULL, &r) == HUD_ERR_ARGUMENT);
    MUST(me, hud_request_start(NULL) == HUD_ERR_ARGUMENT);
    MUST(me, hud_request_wait(NULL) == HUD_ERR_ARGUMENT);
    MUST(me, hud_request_test(NULL, &done) == HUD_ERR_ARGUMENT);
    MUST(me, hud_progress(NULL) == 0);
    hud_request_free(NULL);
    hud_team_flush(NULL);
}

static void invalid_arguments_are_rejected(void **state)
{
    (void)state;
    on_ranks(2, 1, plain, pass_wrong_arguments);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(request_sets_up_its_team),
        cmocka_unit_test(blocking_call_sets_up_a_team_without_nonblocking_exchange),
        cmocka_unit_test(setting_disables_requests),
        cmocka_unit_test(ranks_with_different_settings_fall_back),
        cmocka_unit_test(ten_thousand_requests_may_be_in_flight),
        cmocka_unit_test(team_is_freed_after_its_requests),
        cmocka_unit_test(context_may_end_with_requests_in_flight),
        cmocka_unit_test(different_calls_are_detected),
        cmocka_unit_test(death_of_a_rank_ends_requests),
        cmocka_unit_test(threads_share_a_context),
        cmocka_unit_test(invalid_arguments_are_rejected),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
