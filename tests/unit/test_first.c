/* SPDX-License-Identifier: BSD-3-Clause */
/* test_first.c - a team of threads that is created at its n-th collective: which calls are handled,
 * and how often the ranks exchange data. */
#include "core/team/team.h"
#include "fork_team/fork_team.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { RANKS = 3, CALLS = 6, LIMIT_S = 100 };

struct member {
    const char *setting;
    int gathers;                     /* number of allgathers so far */
    int status[CALLS], asked[CALLS]; /* status of each call; number of allgathers after it */
    enum reason reason;
    size_t offset[2]; /* offsets of the slices of the second and the third team */
};

static struct member members[RANKS];

static void run(fork_team_main body)
{
    struct fork_team team = { .ranks = RANKS, .threads = true, .limit_s = LIMIT_S, .body = body };

    assert_int_equal(fork_team_run(&team), 0);
}

static int counted_allgather(void *arg, const void *mine, size_t bytes, void *all)
{
    struct fork_rank *self = arg;

    members[self->rank].gathers++;
    return fork_team_exchange(self).allgather(arg, mine, bytes, all);
}

static struct hud_exchange counted_exchange(struct fork_rank *self)
{
    struct hud_exchange exchange = fork_team_exchange(self);

    exchange.allgather = counted_allgather;
    return exchange;
}

/* Makes barriers and broadcasts alternately. An empty broadcast between them does not count as a
 * call. */
static int make_calls(struct fork_rank *self, void *arg)
{
    struct member *m = &members[self->rank];
    const char *const settings[] = { m->setting, "HUDDLE_LOG=quiet", NULL };
    struct hud_host host = fork_team_host(self);
    struct hud_exchange exchange = counted_exchange(self);
    char byte = 0;

    (void)arg;
    host.settings = settings;
    hud_context_create(&host, &self->context);
    hud_team_create(self->context, &exchange, &self->team);
    for (int i = 0; i < CALLS; i++) {
        const struct hud_view view = { .base = &byte, .bytes = 1 };
        hud_bcast(self->team, &(struct hud_view){ .base = &byte }, 0);
        m->status[i] = i % 2 == 0 ? hud_barrier(self->team) : hud_bcast(self->team, &view, 0);
        m->asked[i] = m->gathers;
    }
    m->reason = self->team->state.reason;
    fork_team_leave(self);
    return 0;
}

static void make_calls_with(const char *setting, const char *of_rank_1)
{
    for (int r = 0; r < RANKS; r++)
        members[r] = (struct member){ .setting = r == 1 ? of_rank_1 : setting };
    run(make_calls);
}

static void team_is_created_at_its_nth_collective(void **state)
{
    static const char *const settings[] = { "HUDDLE_FIRST=1", "HUDDLE_FIRST=2", "HUDDLE_FIRST=4" };
    static const int first[] = { 1, 2, 4 };

    (void)state;
    for (int s = 0; s < 3; s++) {
        make_calls_with(settings[s], settings[s]);
        for (int r = 0; r < RANKS; r++)
            for (int i = 0; i < CALLS; i++) {
                bool begun = i + 1 >= first[s];
                assert_int_equal(members[r].status[i], begun ? HUD_OK : HUD_PASS);
                assert_int_equal(members[r].asked[i], (first[s] > 1) + (begun ? 2 : 0));
            }
    }
}

static void ranks_with_different_settings_fall_back(void **state)
{
    static const char *const other[] = { "HUDDLE_FIRST=1", "HUDDLE_FIRST=3", "HUDDLE_FIRST=0" };

    (void)state;
    for (int s = 0; s < 3; s++) {
        make_calls_with("HUDDLE_FIRST=2", other[s]);
        for (int r = 0; r < RANKS; r++) {
            assert_int_equal(members[r].reason, s < 2 ? REASON_DIFFER : REASON_SETTING);
            for (int i = 0; i < CALLS; i++)
                assert_int_equal(members[r].status[i], HUD_PASS);
            assert_int_equal(members[r].gathers, 1);
        }
    }
}

static int start(void *arg, const void *mine, size_t bytes, void *all, void **pending)
{
    (void)arg, (void)mine, (void)bytes, (void)all, (void)pending;
    return 1;
}

/* Rejects an exchange that has only a part of a nonblocking allgather. */
static void incomplete_exchange_is_rejected(void **state)
{
    struct fork_rank self = { .ranks = RANKS };
    const struct hud_exchange whole = fork_team_exchange(&self);
    struct hud_exchange none = whole, half = whole;
    const struct hud_host host = fork_team_host(&self);
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

/* Fails the second allgather at rank 1. The other ranks get their data. */
static int failing_allgather(void *arg, const void *mine, size_t bytes, void *all)
{
    int rank = ((struct fork_rank *)arg)->rank, rc = counted_allgather(arg, mine, bytes, all);

    return rank == 1 && members[rank].gathers == 2 ? 1 : rc;
}

static hud_team *join(struct fork_rank *self, bool fails)
{
    struct hud_exchange exchange = counted_exchange(self);
    hud_team *team = NULL;
    char byte = 0;

    members[self->rank].gathers = 0;
    if (fails)
        exchange.allgather = failing_allgather;
    hud_team_create(self->context, &exchange, &team);
    /* the root waits for no other rank */
    int status = hud_bcast(team, &(struct hud_view){ .base = &byte, .bytes = 1 }, 0);
    if (status != (fails && self->rank == 1 ? HUD_PASS : HUD_OK))
        fork_team_fail(self, "status %d of a broadcast", status);
    fork_team_meet(self);
    return team;
}

static int outlive(struct fork_rank *self, void *arg)
{
    /* without learning, where broadcasts begin with a comparison of sizes */
    static const char *const settings[] = { "HUDDLE_WISDOM=off", NULL };
    struct hud_host host = fork_team_host(self);
    size_t *offset = members[self->rank].offset;

    (void)arg;
    host.settings = settings;
    hud_context_create(&host, &self->context);
    hud_team *first = join(self, true), *second = join(self, false);
    hud_team_free(first);
    offset[0] = second->shm.offset;
    if (self->rank == 1)
        hud_team_free(second);
    fork_team_meet(self);
    hud_team *third = join(self, false);
    offset[1] = third->shm.offset;
    if (self->rank != 1)
        hud_team_free(second);
    self->team = third;
    fork_team_leave(self);
    return 0;
}

/* Frees the first team later on the ranks on which it is ready. Where the set-up failed, the slice
 * must not be another team's then, whose members would be counted as having left. */
static void slice_in_use_by_others_is_not_leased_again(void **state)
{
    (void)state;
    run(outlive);
    assert_int_not_equal(members[1].offset[0], members[1].offset[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(team_is_created_at_its_nth_collective),
        cmocka_unit_test(ranks_with_different_settings_fall_back),
        cmocka_unit_test(incomplete_exchange_is_rejected),
        cmocka_unit_test(slice_in_use_by_others_is_not_leased_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
