/* SPDX-License-Identifier: BSD-3-Clause */
/* test_teams.c - teams of threads, one after the other: what setting one up takes of a thread's
 * stack, and what a later team needs no more. */
#define _GNU_SOURCE /* sched_setaffinity */
#include "core/team/team.h"
#include "three.h"

#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#if defined __SANITIZE_THREAD__ /* which has 900 KB of its own in each stack */
enum { STACK_BYTES = 2 << 20 };
#else
enum { STACK_BYTES = 512 << 10 };
#endif
enum { TEAMS = 8, MAX_STACK = 32 << 10 };

struct member {
    struct one_of_three one;
    hud_context *context;
    enum team_state state[TEAMS];
    unsigned made[TEAMS]; /* plans, after each team */
    const struct plan *plan[TEAMS];
    bool without_planner;
    enum reason reason;
    bool asked[RANKS]; /* hwloc so far, after each team of lead_teams_from */
    int levels[RANKS];
    size_t cache_bytes[RANKS];
    _Alignas(4096) unsigned char stack[STACK_BYTES];
};

static struct member members[RANKS];

static void *create_context(void *arg)
{
    static const char *const settings[] = { "HUDDLE_LOG=quiet", NULL };
    struct member *m = arg;
    struct hud_host host = {
        .world_rank = m->one.rank, .world_size = RANKS, .local_ranks = RANKS, .settings = settings
    };

    hud_context_create(&host, &m->context);
    if (m->without_planner) {
        hud_planner_free(m->context->planner);
        m->context->planner = NULL;
    }
    return NULL;
}

static void *use_teams(void *arg)
{
    struct member *m = arg;
    struct hud_exchange exchange = three_exchange(&m->one);

    for (int i = 0; i < TEAMS; i++) {
        hud_team *team;
        hud_team_create(m->context, &exchange, &team);
        hud_barrier(team);
        m->state[i] = team->state;
        m->reason = team->reason;
        m->plan[i] = team->plan;
        m->made[i] = m->context->planner ? hud_planner_made(m->context->planner) : 0;
        pthread_barrier_wait(&meet);
        hud_team_free(team);
        pthread_barrier_wait(&meet); /* so that the next team finds the slices free */
    }
    return NULL;
}

/* The job's ranks are rank 0 of a team in turn, from that one on. */
static void lead_teams_from(struct member *m, int first)
{
    int rank = m->one.rank;

    for (int i = 0; i < RANKS; i++) {
        m->one.rank = (rank - first - i + 2 * RANKS) % RANKS;
        struct hud_exchange exchange = three_exchange(&m->one);
        hud_team *team;
        hud_team_create(m->context, &exchange, &team);
        hud_barrier(team);
        m->state[i] = team->state;
        m->asked[i] = m->context->topo_loaded;
        m->levels[i] = team->levels;
        m->cache_bytes[i] = team->cache_bytes;
        pthread_barrier_wait(&meet);
        hud_team_free(team);
        pthread_barrier_wait(&meet);
    }
    m->one.rank = rank;
}

static void *lead_teams(void *arg)
{
    lead_teams_from(arg, 0);
    return NULL;
}

/* All may run on its first processor only. */
static void *bind_and_lead_teams(void *arg)
{
    cpu_set_t may, one;
    size_t cpu = 0;

    sched_getaffinity(0, sizeof may, &may);
    while (!CPU_ISSET(cpu, &may))
        cpu++;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof one, &one);
    lead_teams_from(arg, 1);
    return NULL;
}

static void *destroy_context(void *arg)
{
    hud_context_destroy(((struct member *)arg)->context);
    return NULL;
}

static void run_all(void *(*run)(void *))
{
    pthread_t thread[RANKS];
    pthread_attr_t attributes;

    pthread_attr_init(&attributes);
    for (int r = 0; r < RANKS; r++) {
        memset(members[r].stack, 0xa5, STACK_BYTES);
        assert_int_equal(pthread_attr_setstack(&attributes, members[r].stack, STACK_BYTES), 0);
        assert_int_equal(pthread_create(&thread[r], &attributes, run, &members[r]), 0);
    }
    for (int r = 0; r < RANKS; r++)
        pthread_join(thread[r], NULL);
    pthread_attr_destroy(&attributes);
}

static void begin(int without_planner)
{
    pthread_barrier_init(&meet, NULL, RANKS);
    for (int r = 0; r < RANKS; r++) {
        members[r].one.rank = r;
        members[r].without_planner = r == without_planner;
    }
    run_all(create_context);
}

static void end(void)
{
    run_all(destroy_context);
    pthread_barrier_destroy(&meet);
}

static size_t __attribute__((unused)) stack_used(const struct member *m)
{
    size_t untouched = 0;

    while (untouched < STACK_BYTES && m->stack[untouched] == 0xa5)
        untouched++;
    return STACK_BYTES - untouched;
}

/* The C library's own part of a thread's stack (its block, and what the program has of thread-local
 * memory) is in it. */
static void a_small_stack_is_enough(void **state)
{
    (void)state;
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__ || !defined __OPTIMIZE__
    skip(); /* frames are larger */
#else
    begin(-1);
    run_all(use_teams);
    for (int r = 0; r < RANKS; r++) {
        assert_int_equal(members[r].state[0], TEAM_READY);
        assert_true(stack_used(&members[r]) <= MAX_STACK);
    }
    end();
#endif
}

/* The same ranks, the same memory: nothing is computed again. */
static void a_later_team_makes_no_plan(void **state)
{
    (void)state;
    begin(-1);
    run_all(use_teams);
    for (int r = 0; r < RANKS; r++) {
        assert_true(members[r].made[0] > 0);
        for (int i = 0; i < TEAMS; i++) {
            assert_int_equal(members[r].state[i], TEAM_READY);
            assert_int_equal(members[r].made[i], members[r].made[0]);
            assert_ptr_equal(members[r].plan[i], members[r].plan[0]);
        }
    }
    end();
}

/* Another rank leads it, but knows from the first team where all are. */
static void a_later_team_does_not_ask_hwloc(void **state)
{
    (void)state;
    begin(-1);
    run_all(lead_teams);
    for (int r = 0; r < RANKS; r++)
        for (int i = 0; i < RANKS; i++) {
            assert_int_equal(members[r].state[i], TEAM_READY);
            assert_int_equal(members[r].asked[i], r == 0);
            assert_int_equal(members[r].levels[i], members[0].levels[0]);
            assert_int_equal(members[r].cache_bytes[i], members[0].cache_bytes[0]);
        }
    end();
}

/* Rank 1 leads the first team since, so it has to ask; then all know again. */
static void ranks_that_were_bound_since_are_looked_up(void **state)
{
    cpu_set_t may;

    (void)state;
    sched_getaffinity(0, sizeof may, &may);
    if (CPU_COUNT(&may) < 2)
        skip();
    begin(-1);
    run_all(lead_teams);
    run_all(bind_and_lead_teams);
    for (int r = 0; r < RANKS; r++)
        for (int i = 0; i < RANKS; i++) {
            assert_int_equal(members[r].state[i], TEAM_READY);
            assert_int_equal(members[r].asked[i], r <= 1);
        }
    end();
}

/* One rank had no memory for a planner: all refuse, for that reason. */
static void a_rank_without_a_planner_refuses_for_all(void **state)
{
    (void)state;
    begin(1);
    run_all(use_teams);
    for (int r = 0; r < RANKS; r++) {
        assert_int_equal(members[r].state[0], TEAM_REFUSED);
        assert_int_equal(members[r].reason, REASON_PRIVATE);
    }
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_small_stack_is_enough),
        cmocka_unit_test(a_later_team_makes_no_plan),
        cmocka_unit_test(a_later_team_does_not_ask_hwloc),
        cmocka_unit_test(ranks_that_were_bound_since_are_looked_up),
        cmocka_unit_test(a_rank_without_a_planner_refuses_for_all),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
