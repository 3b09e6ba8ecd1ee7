/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_request_ends.c - requests that huddle does not carry out or that fail, how teams begin and
 * end with requests in flight, many requests, several threads.
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
static const char *const check[] = { "HUDDLE_CHECK=1", "HUDDLE_LOG=quiet", NULL };

static void begin_and_end(struct gang_member *m)
{
    hud_team *team = m->team[0].team;
    int passed = 0, done;
    hud_request *r = create(m, team, "barrier", NULL, &passed);

    MUST(m, hud_request_test(r, &done) == HUD_OK && done); /* not in flight */
    MUST(m, hud_request_start(r) == HUD_OK);
    finish(m, r, HUD_OK);
    MUST(m, team->state == TEAM_READY && passed == 0);
    MUST(m, hud_barrier(team) == HUD_OK);
    MUST(m, m->context->lanes.pool.reserved == 0 && m->context->lanes.pool.made == 1);
}

static void a_request_sets_its_team_up(void **state)
{
    (void)state;
    on_ranks(3, 1, plain, begin_and_end);
}

static void waiting_exchange(struct gang_member *m)
{
    hud_team *team = m->team[0].team;
    int passed = 0;
    hud_request *r = create(m, team, "barrier", NULL, &passed);

    MUST(m, hud_request_start(r) == HUD_PASS && passed == 0);
    MUST(m, hud_barrier(team) == HUD_OK);
    MUST(m, hud_request_start(r) == HUD_OK);
    finish(m, r, HUD_OK);
    MUST(m, passed == 0);
}

static void without_such_an_exchange_a_blocking_call_does(void **state)
{
    (void)state;
    gang_run(&(struct gang){ .ranks = 2,
                             .teams = 1,
                             .waits = true,
                             .settings = { plain, plain },
                             .body = waiting_exchange });
}

/* Not even the set-up is a request's: it would have to advance in waits of the host. */
static void switched_off(struct gang_member *m)
{
    hud_team *team = m->team[0].team;
    int passed = 0;
    hud_request *r = create(m, team, "barrier", NULL, &passed);

    MUST(m, hud_request_start(r) == HUD_PASS && team->state == TEAM_NEW);
    MUST(m, hud_barrier(team) == HUD_OK);
    MUST(m, hud_request_start(r) == HUD_PASS);
    finish(m, r, HUD_PASS);
    MUST(m, passed == 0);
}

static void a_setting_switches_requests_off(void **state)
{
    (void)state;
    on_ranks(3, 1, off, switched_off);
}

/* Rank 1 has requests switched off.  The others find out when its first blocking call sets up the
 * team. */
static void differing(struct gang_member *m)
{
    hud_team *team = m->team[0].team;
    int passed = 0;
    hud_request *r = create(m, team, "barrier", NULL, &passed);

    MUST(m, hud_request_start(r) == (m->rank == 1 ? HUD_PASS : HUD_OK));
    if (m->rank == 1)
        finish(m, r, HUD_PASS);
    else
        MUST(m, hud_request_wait(r) == HUD_PASS && passed == 1);
    MUST(m, hud_barrier(team) == HUD_PASS && team->reason == REASON_DIFFER);
}

static void ranks_that_set_it_differently_pass(void **state)
{
    (void)state;
    gang_run(&(struct gang){
        .ranks = 3, .teams = 1, .settings = { plain, off, plain }, .body = differing });
}

static void in_flight(struct gang_member *m)
{
    hud_request **all = calloc((size_t)m->teams * MANY, sizeof *all);
    int *numbers = calloc((size_t)m->teams * MANY, sizeof *numbers), passed = 0;

    for (int i = 0; i < m->teams * MANY; i++) {
        numbers[i] = m->rank == 0 ? i + 1 : 0;
        all[i] = create(m, m->team[i % m->teams].team, "bcast",
                        &(struct hud_view){ .base = &numbers[i], .bytes = 4 }, &passed);
        MUST(m, hud_request_start(all[i]) == HUD_OK);
    }
    MUST(m, m->context->lanes.pool.made == m->teams);
    for (int i = 0; i < m->teams * MANY; i++) {
        int at = (i * 7919 + m->rank * 31) % (m->teams * MANY);
        finish(m, all[at], HUD_OK);
        MUST(m, numbers[at] == at + 1);
    }
    MUST(m, passed == 0 && hud_progress(m->context) == 0);
    free(all);
    free(numbers);
}

static void ten_thousand_in_flight(void **state)
{
    static const char *const settings[] = { "HUDDLE_MEMORY=64M", "HUDDLE_LEASE=256K", NULL };

    (void)state;
    on_ranks(2, GANG_TEAMS, settings, in_flight);
}

static void freed(struct gang_member *m)
{
    hud_team *team = m->team[0].team;
    int passed = 0;
    hud_request *r[2];

    for (int i = 0; i < 2; i++) {
        r[i] = create(m, team, "barrier", NULL, &passed);
        MUST(m, hud_request_start(r[i]) == HUD_OK);
    }
    gang_free_team(&m->team[0]);
    MUST(m, m->rank != 0 || m->team[0].released == 0); /* its set-up is not over */
    gang_meet(m);
    finish(m, r[1], HUD_OK);
    MUST(m, m->team[0].released == 1);
    finish(m, r[0], HUD_OK);
    MUST(m, passed == 0);
}

static void a_team_is_freed_after_its_requests(void **state)
{
    (void)state;
    on_ranks(2, 1, plain, freed);
}

/* Neither waited for nor freed: the context's end does that. */
static void forgotten(struct gang_member *m)
{
    int passed = 0;

    MUST(m, hud_barrier(m->team[1].team) == HUD_OK);
#ifdef __SANITIZE_ADDRESS__
    enum { FIRST = 1 }; /* what the host may still write, of a set-up under way, stays */
#else
    enum { FIRST = 0 };
#endif
    for (int t = FIRST; t < 2; t++)
        if (m->rank == 0)
            MUST(m,
                 hud_request_start(create(m, m->team[t].team, "barrier", NULL, &passed)) == HUD_OK);
}

static void a_context_ends_with_requests_in_flight(void **state)
{
    (void)state;
    on_ranks(3, 2, plain, forgotten);
}

static void unlike(struct gang_member *m)
{
    hud_team *team = m->team[0].team;
    int passed = 0, number = 0;
    hud_request *r =
        m->rank == 0
            ? create(m, team, "barrier", NULL, &passed)
            : create(m, team, "bcast", &(struct hud_view){ .base = &number, .bytes = 4 }, &passed);
    bool checks = hud_context_checks(m->context);

    MUST(m, hud_request_start(r) == HUD_OK);
    finish(m, r, checks ? HUD_PASS : HUD_ERR_UNLIKE);
    MUST(m, passed == checks);
    r = create(m, team, "barrier", NULL, &passed);
    MUST(m, hud_request_start(r) == (checks ? HUD_OK : HUD_PASS));
    finish(m, r, checks ? HUD_OK : HUD_PASS);
}

static void different_calls_end(void **state)
{
    (void)state;
    on_ranks(3, 1, check, unlike);
    on_ranks(3, 1, plain, unlike);
}

static void bereft(struct gang_member *m)
{
    hud_team *team = m->team[0].team;
    int passed = 0;
    hud_request *r[2];

    MUST(m, hud_barrier(team) == HUD_OK);
    if (m->rank == 1)
        _exit(0);
    for (int i = 0; i < 2; i++) {
        r[i] = create(m, team, "barrier", NULL, &passed);
        MUST(m, hud_request_start(r[i]) == HUD_OK);
    }
    finish(m, r[0], HUD_ERR_FAILED);
    finish(m, r[1], HUD_PASS);
    MUST(m, passed == 1);
    MUST(m, hud_barrier(team) == HUD_PASS);
}

static void a_death_ends_requests(void **state)
{
    (void)state;
    gang_run(&(struct gang){ .ranks = 3,
                             .teams = 1,
                             .forks = true,
                             .fault_tolerant = true,
                             .settings = { plain, plain, plain },
                             .body = bereft });
}

/* ---- threads ---- */

static void *use_team(void *arg)
{
    struct gang_team *t = arg;
    struct gang_member *m = t->member;
    int passed = 0, done;
    unsigned own = (unsigned)(m->rank * 7 + t->number);
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
        MUST(m, hud_request_create(t->team, &args, &(struct hud_passed){ count, &passed }, &r) ==
                    HUD_OK);
        MUST(m, hud_request_start(r) == HUD_OK);
        for (done = rand_r(&own) % 2; !done;)
            (void)hud_request_test(r, &done);
        MUST(m, i % 10 != 0 || hud_barrier(t->team) == HUD_OK);
        finish(m, r, HUD_OK);
        MUST(m, sum == m->ranks);
    }
    MUST(m, passed == 0);
    return NULL;
}

static void two_threads(struct gang_member *m)
{
    pthread_t other;

    if (pthread_create(&other, NULL, use_team, &m->team[1]) != 0)
        abort();
    use_team(&m->team[0]);
    pthread_join(other, NULL);
}

static void threads_share_a_context(void **state)
{
    (void)state;
    gang_run(&(struct gang){ .ranks = 2,
                             .teams = 2,
                             .threads = true,
                             .settings = { plain, plain },
                             .body = two_threads });
}

static void wrong_arguments(struct gang_member *m)
{
    hud_request *r = NULL;
    int done;
    struct hud_args args = { .collective = COLL_KINDS };

    MUST(m, hud_request_create(m->team[0].team, &args, NULL, NULL) == HUD_ERR_ARGUMENT);
    MUST(m, hud_request_create(m->team[0].team, &args, NULL, &r) == HUD_ERR_ARGUMENT && !r);
    args.collective = COLL_BCAST;
    args.root = m->ranks;
    MUST(m, hud_request_create(m->team[0].team, &args, NULL, &r) == HUD_ERR_ARGUMENT && !r);
    MUST(m, hud_request_create(NULL, &args, NULL, &r) == HUD_ERR_ARGUMENT);
    MUST(m, hud_request_start(NULL) == HUD_ERR_ARGUMENT);
    MUST(m, hud_request_wait(NULL) == HUD_ERR_ARGUMENT);
    MUST(m, hud_request_test(NULL, &done) == HUD_ERR_ARGUMENT);
    MUST(m, hud_progress(NULL) == 0);
    hud_request_free(NULL);
    hud_team_flush(NULL);
}

static void arguments_are_looked_at(void **state)
{
    (void)state;
    on_ranks(2, 1, plain, wrong_arguments);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_request_sets_its_team_up),
        cmocka_unit_test(without_such_an_exchange_a_blocking_call_does),
        cmocka_unit_test(a_setting_switches_requests_off),
        cmocka_unit_test(ranks_that_set_it_differently_pass),
        cmocka_unit_test(ten_thousand_in_flight),
        cmocka_unit_test(a_team_is_freed_after_its_requests),
        cmocka_unit_test(a_context_ends_with_requests_in_flight),
        cmocka_unit_test(different_calls_end),
        cmocka_unit_test(a_death_ends_requests),
        cmocka_unit_test(threads_share_a_context),
        cmocka_unit_test(arguments_are_looked_at),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
