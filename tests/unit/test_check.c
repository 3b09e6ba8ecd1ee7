/* SPDX-License-Identifier: BSD-3-Clause */
/* test_check.c - HUDDLE_CHECK without an MPI: the exact reports of calls that differ, and no report
 * if the ranks agree. */
#include "checked.h"

#include <stdlib.h>
#include <string.h>

enum { CALLS = 200 };

static void reduce(struct rank *r, size_t bytes, const char *op)
{
    checked_enter(r, "allreduce", -1, bytes, op);
    hud_team_exit(r->team);
}

static void broadcast(struct rank *r, size_t bytes, int root)
{
    char buffer[64] = "";
    struct hud_view view = { .base = buffer, .bytes = bytes };

    if (hud_bcast(r->team, &view, root) == HUD_PASS)
        hud_team_exit(r->team);
}

/* Makes calls in which the ranks agree. Calls inside another call and calls of zero bytes are not
 * compared. */
static void make_equal_calls(struct rank *r)
{
    for (int i = 0; i < CALLS; i++) {
        broadcast(r, 8, i % RANKS);
        reduce(r, 16, "MPI_SUM");
        reduce(r, r->rank % 2 ? 0 : 0, "MPI_MAX");
        checked_enter(r, "alltoallv", -1, HUD_ANY_BYTES, NULL);
        for (int nested = 0; nested < r->rank; nested++)
            reduce(r, (size_t)nested + 1, NULL);
        hud_team_exit(r->team);
        MUST(r, hud_barrier(r->team) == HUD_OK);
    }
}

static void equal_calls_are_not_reported(void **state)
{
    (void)state;
    assert_string_equal(checked_stderr_of(make_equal_calls), "");
}

static void make_different_calls(struct rank *r)
{
    hud_barrier(r->team);
    if (r->rank == 2)
        reduce(r, 8, "MPI_SUM");
    else
        broadcast(r, r->rank == 3 ? 9 : 8, 1);
    broadcast(r, 8, r->rank); /* not reported, because only the first difference of a team is */
    hud_barrier(r->team);
}

static void difference_is_reported_once(void **state)
{
    (void)state;
    assert_string_equal(
        checked_stderr_of(make_different_calls),
        "huddle: check: call 2 of everybody (4 ranks): ranks 0-1 call MPI_Bcast(root 1, 8 bytes); "
        "rank 2 calls MPI_Allreduce(8 bytes, MPI_SUM); rank 3 calls MPI_Bcast(root 1, 9 bytes); "
        "these calls fall back to MPI, where ranks may wait forever (HUDDLE_CHECK=abort ends "
        "the job instead)\n");
}

static void broadcast_from_different_roots(struct rank *r)
{
    hud_barrier(r->team);
    char byte = 0;
    struct hud_view view = { .base = &byte, .bytes = 1 };
    MUST(r, hud_bcast(r->team, &view, r->rank) == HUD_PASS);
    hud_team_exit(r->team);
    MUST(r, hud_bcast(r->team, &view, 0) == HUD_OK);
}

static void call_that_differs_falls_back_on_all_ranks(void **state)
{
    (void)state;
    assert_non_null(strstr(
        checked_stderr_of(broadcast_from_different_roots),
        "rank 0 calls MPI_Bcast(root 0, 1 bytes); rank 1 calls MPI_Bcast(root 1, 1 bytes); "));
}

static void call_inside_different_calls(struct rank *r)
{
    char byte = 0;
    struct hud_view view = { .base = &byte, .bytes = 1 };

    hud_barrier(r->team);
    checked_enter(r, r->rank % 2 ? "scan" : "allreduce", -1, 8, NULL);
    for (int i = 0; i < 2; i++) {
        MUST(r, hud_bcast(r->team, &view, 0) == HUD_PASS);
        hud_team_exit(r->team);
    }
    hud_team_exit(r->team);
    reduce(r, 8, NULL);
    checked_enter(r, "scan", -1, 8, NULL);
    MUST(r, hud_bcast(r->team, &view, 0) == HUD_OK);
    hud_team_exit(r->team);
}

static void calls_inside_a_call_that_differs_fall_back_too(void **state)
{
    (void)state;
    assert_non_null(strstr(checked_stderr_of(call_inside_different_calls), "call 2 of everybody"));
}

static void reduce_first(struct rank *r)
{
    reduce(r, 8, NULL);
    ranks_meet(r);
    MUST(r, hud_barrier(r->team) == HUD_PASS);
}

static void rank_with_a_bad_setting_reports_it_once(void **state)
{
    static const char *const bogus[] = { "HUDDLE_CHECK=on", "HUDDLE_CHECK_TIMEOUT=1",
                                         "HUDDLE_BCAST=bogus", NULL },
                             *const off[] = { "HUDDLE_CHECK=on", "HUDDLE=off", NULL };

    (void)state;
    struct ranks all = { .of_rank = { [1] = bogus }, .body = reduce_first };
    const char *line =
        strstr(checked_stderr(all), "huddle: rank 1: HUDDLE_BCAST=bogus is not valid");
    assert_true(line && strchr(line, '\n') == line + strlen(line) - 1);
    all.of_rank[1] = off;
    assert_string_equal(checked_stderr(all), "");
}

static void begin_with_a_barrier(struct rank *r)
{
    reduce(r, 8, NULL);
    ranks_meet(r);
    MUST(r, hud_barrier(r->team) == HUD_OK);
    reduce(r, r->rank == 1 ? 16 : 8, NULL);
}

static void creates_team_at_first_handled_call_when_unnamed(void **state)
{
    (void)state;
    assert_string_equal(
        checked_stderr((struct ranks){ .in_a_job = true, .body = begin_with_a_barrier }),
        "huddle: check: call 2 of everybody (4 ranks): ranks 0, 2-3 call MPI_Allreduce(8 bytes); "
        "rank 1 calls MPI_Allreduce(16 bytes); these calls fall back to MPI, where ranks may wait "
        "forever (HUDDLE_CHECK=abort ends the job instead)\n");
}

static void reduce_nothing(struct rank *r)
{
    if (r->rank % 2)
        reduce(r, 0, NULL);
    ranks_meet(r);
    MUST(r, hud_barrier(r->team) == HUD_OK);
}

static void calls_of_zero_bytes_create_no_team(void **state)
{
    (void)state;
    assert_string_equal(checked_stderr_of(reduce_nothing), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_calls_are_not_reported),
        cmocka_unit_test(difference_is_reported_once),
        cmocka_unit_test(call_that_differs_falls_back_on_all_ranks),
        cmocka_unit_test(calls_inside_a_call_that_differs_fall_back_too),
        cmocka_unit_test(rank_with_a_bad_setting_reports_it_once),
        cmocka_unit_test(creates_team_at_first_handled_call_when_unnamed),
        cmocka_unit_test(calls_of_zero_bytes_create_no_team),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
