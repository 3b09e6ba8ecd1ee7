/* SPDX-License-Identifier: BSD-3-Clause */
/* test_first.c - a team of threads that begins with its n-th collective: who takes which call, and
 * what the ranks ask of each other. */
#include "core/team/team.h"
#include "three.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { CALLS = 6 };

struct member {
    struct one_of_three one;
    const char *setting;
    int status[CALLS], asked[CALLS]; /* of each call; allgathers so far */
    enum reason reason;
};

/* Barriers and broadcasts by turns; an empty broadcast between them does not count. */
static void *run_rank(void *arg)
{
    struct member *m = arg;
    const char *const settings[] = { m->setting, "HUDDLE_LOG=quiet", NULL };
    struct hud_host host = {
        .world_rank = m->one.rank, .world_size = RANKS, .local_ranks = RANKS, .settings = settings
    };
    struct hud_exchange exchange = three_exchange(&m->one);
    hud_context *context;
    hud_team *team;
    char byte = 0;

    hud_context_create(&host, &context);
    hud_team_create(context, &exchange, &team);
    for (int i = 0; i < CALLS; i++) {
        hud_bcast(team, &(struct hud_view){ .base = &byte }, 0);
        m->status[i] = i % 2 == 0
                           ? hud_barrier(team)
                           : hud_bcast(team, &(struct hud_view){ .base = &byte, .bytes = 1 }, 0);
        m->asked[i] = m->one.gathers;
    }
    m->reason = team->reason;
    hud_team_free(team);
    pthread_barrier_wait(&meet);
    hud_context_destroy(context);
    return NULL;
}

static void run(struct member *members, const char *setting, const char *of_rank_1)
{
    pthread_t thread[RANKS];

    pthread_barrier_init(&meet, NULL, RANKS);
    for (int r = 0; r < RANKS; r++) {
        members[r] = (struct member){ .one.rank = r, .setting = r == 1 ? of_rank_1 : setting };
        assert_int_equal(pthread_create(&thread[r], NULL, run_rank, &members[r]), 0);
    }
    for (int r = 0; r < RANKS; r++)
        pthread_join(thread[r], NULL);
    pthread_barrier_destroy(&meet);
}

static void begins_with_its_nth_collective(void **state)
{
    static const char *const settings[] = { "HUDDLE_FIRST=1", "HUDDLE_FIRST=2", "HUDDLE_FIRST=4" };
    static const int first[] = { 1, 2, 4 };
    struct member members[RANKS];

    (void)state;
    for (int s = 0; s < 3; s++) {
        run(members, settings[s], settings[s]);
        for (int r = 0; r < RANKS; r++)
            for (int i = 0; i < CALLS; i++) {
                bool begun = i + 1 >= first[s];
                assert_int_equal(members[r].status[i], begun ? HUD_OK : HUD_PASS);
                assert_int_equal(members[r].asked[i], (first[s] > 1) + (begun ? 2 : 0));
            }
    }
}

static void ranks_that_count_differently_leave_all_to_the_host(void **state)
{
    static const char *const other[] = { "HUDDLE_FIRST=1", "HUDDLE_FIRST=3", "HUDDLE_FIRST=0" };
    struct member members[RANKS];

    (void)state;
    for (int s = 0; s < 3; s++) {
        run(members, "HUDDLE_FIRST=2", other[s]);
        for (int r = 0; r < RANKS; r++) {
            assert_int_equal(members[r].reason, s < 2 ? REASON_DIFFER : REASON_SETTING);
            for (int i = 0; i < CALLS; i++)
                assert_int_equal(members[r].status[i], HUD_PASS);
            assert_int_equal(members[r].one.gathers, 1);
        }
    }
}

static int start(void *arg, const void *mine, size_t bytes, void *all, void **pending)
{
    (void)arg, (void)mine, (void)bytes, (void)all, (void)pending;
    return 1;
}

/* Of an allgather that does not wait, one half is of no use. */
static void an_exchange_has_all_of_a_way(void **state)
{
    struct one_of_three one = { .rank = 0 };
    const struct hud_exchange whole = three_exchange(&one);
    struct hud_exchange none = whole, half = whole;
    const struct hud_host host = { .world_size = RANKS, .local_ranks = RANKS };
    hud_context *context;
    hud_team *team;

    (void)state;
    none.allgather = NULL;
    half.start_allgather = start;
    hud_context_create(&host, &context);
    assert_int_equal(hud_team_create(context, &none, &team), HUD_ERR_ARGUMENT);
    assert_int_equal(hud_team_create(context, &half, &team), HUD_ERR_ARGUMENT);
    assert_int_equal(hud_team_create(context, &whole, &team), HUD_OK);
    hud_team_free(team);
    hud_context_destroy(context);
}

/* ---- an exchange that fails for one rank ---- */

static size_t offset[RANKS][2]; /* of the second team's slice, and of the third's */

/* The second one, for rank 1 alone: others have what they need. */
static int failing_allgather(void *arg, const void *mine, size_t bytes, void *all)
{
    struct one_of_three *one = arg;
    int rc = three_allgather(arg, mine, bytes, all);

    return one->rank == 1 && one->gathers == 2 ? 1 : rc;
}

static hud_team *join(hud_context *context, struct one_of_three *one, bool fails)
{
    struct hud_exchange exchange = three_exchange(one);
    hud_team *team = NULL;
    char byte = 0;

    one->gathers = 0;
    if (fails)
        exchange.allgather = failing_allgather;
    hud_team_create(context, &exchange, &team);
    /* the root waits for nobody */
    int status = hud_bcast(team, &(struct hud_view){ .base = &byte, .bytes = 1 }, 0);
    assert_int_equal(status, fails && one->rank == 1 ? HUD_PASS : HUD_OK);
    pthread_barrier_wait(&meet);
    return team;
}

static void *outlive(void *arg)
{
    struct one_of_three *one = arg;
    struct hud_host host = { .world_rank = one->rank, .world_size = RANKS, .local_ranks = RANKS };
    hud_context *context;

    hud_context_create(&host, &context);
    hud_team *first = join(context, one, true), *second = join(context, one, false);
    hud_team_free(first);
    offset[one->rank][0] = second->offset;
    if (one->rank == 1)
        hud_team_free(second);
    pthread_barrier_wait(&meet);
    hud_team *third = join(context, one, false);
    offset[one->rank][1] = third->offset;
    if (one->rank != 1)
        hud_team_free(second);
    hud_team_free(third);
    pthread_barrier_wait(&meet);
    hud_context_destroy(context);
    return NULL;
}

/* Those for which the first team is ready leave its slices later.  Where it failed, the slice must
 * not be another team's then, whose members would be taken to have left. */
static void a_slice_that_others_use_is_not_leased_again(void **state)
{
    struct one_of_three one[RANKS];
    pthread_t thread[RANKS];

    (void)state;
    pthread_barrier_init(&meet, NULL, RANKS);
    for (int r = 0; r < RANKS; r++) {
        one[r] = (struct one_of_three){ .rank = r };
        assert_int_equal(pthread_create(&thread[r], NULL, outlive, &one[r]), 0);
    }
    for (int r = 0; r < RANKS; r++)
        pthread_join(thread[r], NULL);
    pthread_barrier_destroy(&meet);
    assert_int_not_equal(offset[1][0], offset[1][1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(begins_with_its_nth_collective),
        cmocka_unit_test(ranks_that_count_differently_leave_all_to_the_host),
        cmocka_unit_test(an_exchange_has_all_of_a_way),
        cmocka_unit_test(a_slice_that_others_use_is_not_leased_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
