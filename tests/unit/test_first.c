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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(begins_with_its_nth_collective),
        cmocka_unit_test(ranks_that_count_differently_leave_all_to_the_host),
        cmocka_unit_test(an_exchange_has_all_of_a_way),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
