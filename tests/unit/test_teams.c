/* SPDX-License-Identifier: BSD-3-Clause */
/* test_teams.c - teams of threads, one after the other: the stack that a set-up needs, and the
 * steps that a later team skips. */
#define _GNU_SOURCE /* sched_setaffinity */
#include "core/team/team.h"
#include "fork_team/fork_team.h"
#include "one_processor.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#if defined __SANITIZE_THREAD__ /* uses 900 KB of each stack itself */
enum { STACK_BYTES = 2 << 20 };
#else
enum { STACK_BYTES = 512 << 10 };
#endif
enum { RANKS = 3, TEAMS = 8, MAX_STACK = 32 << 10, LIMIT_S = 100 };

struct member {
    struct fork_rank *self;
    enum team_state state[TEAMS];
    unsigned made[TEAMS]; /* number of plans after each team */
    const struct plan *plan[TEAMS];
    enum reason reason;
    bool asked[RANKS]; /* whether hwloc was loaded, after each team of lead_teams_from */
    int levels[RANKS];
    size_t cache_bytes[RANKS];
    _Alignas(4096) unsigned char stack[STACK_BYTES];
};

static struct member members[RANKS];
static int without_planner = -1; /* a rank, or -1 for none */

/* Creates a team by a barrier, lets `look` note facts of the team, and frees the team. */
static void use_team(struct member *m, const struct hud_exchange *exchange, int i,
                     void (*look)(struct member *m, const hud_team *team, int i))
{
    hud_team *team;

    hud_team_create(m->self->context, exchange, &team);
    hud_barrier(team);
    m->state[i] = team->state.now;
    look(m, team, i);
    fork_team_meet(m->self);
    hud_team_free(team);
    fork_team_meet(m->self); /* the slices are free for the next team */
}

static void note_plan(struct member *m, const hud_team *team, int i)
{
    struct planner *planner = m->self->context->plan.planner;

    m->reason = team->state.reason;
    m->plan[i] = team->plan.shared;
    m->made[i] = planner ? hud_planner_made(planner) : 0;
}

static void *use_teams(void *arg)
{
    struct member *m = arg;
    struct hud_exchange exchange = fork_team_exchange(m->self);

    for (int i = 0; i < TEAMS; i++)
        use_team(m, &exchange, i, note_plan);
    return NULL;
}

static void note_machine(struct member *m, const hud_team *team, int i)
{
    m->asked[i] = m->self->context->machine.topo_loaded;
    m->levels[i] = team->places.levels;
    m->cache_bytes[i] = team->plan.cache_bytes;
}

/* Creates teams in which each rank of the job is rank 0 in turn, beginning with `first`. */
static void lead_teams_from(struct member *m, int first)
{
    for (int i = 0; i < RANKS; i++) {
        struct fork_rank in_team = *m->self;
        in_team.rank = (m->self->rank - first - i + 2 * RANKS) % RANKS;
        struct hud_exchange exchange = fork_team_exchange(&in_team);
        use_team(m, &exchange, i, note_machine);
    }
}

static void *lead_teams(void *arg)
{
    lead_teams_from(arg, 0);
    return NULL;
}

/* Leads teams, binds each rank to its first allowed processor, and leads teams again. */
static void *lead_teams_and_bind(void *arg)
{
    lead_teams_from(arg, 0);
    use_first_processor();
    lead_teams_from(arg, 1);
    return NULL;
}

/* Runs a function on the rank's own stack, whose bytes are all equal before. */
static void run_on_own_stack(struct member *m, void *(*run)(void *))
{
    pthread_t thread;
    pthread_attr_t attributes;

    memset(m->stack, 0xa5, STACK_BYTES);
    pthread_attr_init(&attributes);
    if (pthread_attr_setstack(&attributes, m->stack, STACK_BYTES) != 0 ||
        pthread_create(&thread, &attributes, run, m) != 0)
        fork_team_fail(m->self, "no thread with its own stack");
    else
        pthread_join(thread, NULL);
    pthread_attr_destroy(&attributes);
}

static int run_rank(struct fork_rank *self, void *arg)
{
    static const char *const settings[] = { "HUDDLE_LOG=quiet", NULL };
    struct member *m = &members[self->rank];
    struct hud_host host = fork_team_host(self);
    void *(**run)(void *) = arg;

    m->self = self;
    host.settings = settings;
    hud_context_create(&host, &self->context);
    if (self->rank == without_planner) {
        hud_planner_free(self->context->plan.planner);
        self->context->plan.planner = NULL;
    }
    run_on_own_stack(m, *run);
    fork_team_leave(self);
    return 0;
}

static void run_on_ranks(void *(*run)(void *))
{
    struct fork_team team = {
        .ranks = RANKS, .threads = true, .limit_s = LIMIT_S, .body = run_rank, .arg = &run
    };

    assert_int_equal(fork_team_run(&team), 0);
}

static size_t __attribute__((unused)) stack_used(const struct member *m)
{
    size_t untouched = 0;

    while (untouched < STACK_BYTES && m->stack[untouched] == 0xa5)
        untouched++;
    return STACK_BYTES - untouched;
}

/* Measures the stack of a thread, which includes the C library's block and thread-local memory. */
static void set_up_needs_a_small_stack_only(void **state)
{
    (void)state;
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__ || !defined __OPTIMIZE__
    skip(); /* frames are larger */
#else
    run_on_ranks(use_teams);
    for (int r = 0; r < RANKS; r++) {
        assert_int_equal(members[r].state[0], TEAM_READY);
        assert_true(stack_used(&members[r]) <= MAX_STACK);
    }
#endif
}

/* Creates teams of the same ranks with the same memory, so no plan must be computed again. */
static void later_team_makes_no_plan(void **state)
{
    (void)state;
    run_on_ranks(use_teams);
    for (int r = 0; r < RANKS; r++) {
        assert_true(members[r].made[0] > 0);
        for (int i = 0; i < TEAMS; i++) {
            assert_int_equal(members[r].state[i], TEAM_READY);
            assert_int_equal(members[r].made[i], members[r].made[0]);
            assert_ptr_equal(members[r].plan[i], members[r].plan[0]);
        }
    }
}

/* Lets other ranks lead the later teams. They must know the machine from the first team. */
static void later_team_does_not_load_hwloc(void **state)
{
    (void)state;
    run_on_ranks(lead_teams);
    for (int r = 0; r < RANKS; r++)
        for (int i = 0; i < RANKS; i++) {
            assert_int_equal(members[r].state[i], TEAM_READY);
            assert_int_equal(members[r].asked[i], r == 0);
            assert_int_equal(members[r].levels[i], members[0].levels[0]);
            assert_int_equal(members[r].cache_bytes[i], members[0].cache_bytes[0]);
        }
}

/* Binds the ranks after the first teams. Rank 1 leads the first team afterwards and must load the
 * machine, and then all know it. */
static void machine_is_loaded_again_after_binding(void **state)
{
    cpu_set_t may;

    (void)state;
    sched_getaffinity(0, sizeof may, &may);
    if (CPU_COUNT(&may) < 2)
        skip();
    run_on_ranks(lead_teams_and_bind);
    for (int r = 0; r < RANKS; r++)
        for (int i = 0; i < RANKS; i++) {
            assert_int_equal(members[r].state[i], TEAM_READY);
            assert_int_equal(members[r].asked[i], r <= 1);
        }
}

/* Takes the planner from one rank, as for lack of memory. All ranks must refuse for this reason. */
static void rank_without_planner_disables_the_team(void **state)
{
    (void)state;
    without_planner = 1;
    run_on_ranks(use_teams);
    without_planner = -1;
    for (int r = 0; r < RANKS; r++) {
        assert_int_equal(members[r].state[0], TEAM_REFUSED);
        assert_int_equal(members[r].reason, REASON_PRIVATE);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(set_up_needs_a_small_stack_only),
        cmocka_unit_test(later_team_makes_no_plan),
        cmocka_unit_test(later_team_does_not_load_hwloc),
        cmocka_unit_test(machine_is_loaded_again_after_binding),
        cmocka_unit_test(rank_without_planner_disables_the_team),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
