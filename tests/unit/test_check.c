/* SPDX-License-Identifier: BSD-3-Clause */
/* test_check.c - HUDDLE_CHECK without an MPI: what is said of calls that differ, exactly, and that
 * those who agree hear nothing. */
#include "roll.h"

#include <stdlib.h>
#include <string.h>

enum { CALLS = 200 };

static void reduce(struct rank *r, size_t bytes, const char *op)
{
    roll_enter(r, "allreduce", -1, bytes, op);
    hud_team_exit(r->team);
}

static void broadcast(struct rank *r, size_t bytes, int root)
{
    char buffer[64] = "";
    struct hud_view view = { .base = buffer, .bytes = bytes };

    if (hud_bcast(r->team, &view, root) == HUD_PASS)
        hud_team_exit(r->team);
}

/* Those inside another call are its own affair; those of zero bytes are none. */
static void agree(struct rank *r)
{
    for (int i = 0; i < CALLS; i++) {
        broadcast(r, 8, i % RANKS);
        reduce(r, 16, "MPI_SUM");
        reduce(r, r->number % 2 ? 0 : 0, "MPI_MAX");
        roll_enter(r, "alltoallv", -1, HUD_ANY_BYTES, NULL);
        for (int nested = 0; nested < r->number; nested++)
            reduce(r, (size_t)nested + 1, NULL);
        hud_team_exit(r->team);
        if (hud_barrier(r->team) != HUD_OK)
            abort();
    }
}

static void those_who_agree_hear_nothing(void **state)
{
    (void)state;
    assert_string_equal(roll_said(agree), "");
}

static void differ(struct rank *r)
{
    hud_barrier(r->team);
    if (r->number == 2)
        reduce(r, 8, "MPI_SUM");
    else
        broadcast(r, r->number == 3 ? 9 : 8, 1);
    broadcast(r, 8, r->number); /* said once a team */
    hud_barrier(r->team);
}

static void a_difference_is_said_once(void **state)
{
    (void)state;
    assert_string_equal(
        roll_said(differ),
        "huddle: check: call 2 of everybody (4 ranks): ranks 0-1 call MPI_Bcast(root 1, 8 bytes); "
        "rank 2 calls MPI_Allreduce(8 bytes, MPI_SUM); rank 3 calls MPI_Bcast(root 1, 9 bytes)\n");
}

static void unequal_is_passed_by(struct rank *r)
{
    hud_barrier(r->team);
    char byte = 0;
    struct hud_view view = { .base = &byte, .bytes = 1 };
    if (hud_bcast(r->team, &view, r->number) != HUD_PASS)
        abort();
    hud_team_exit(r->team);
    if (hud_bcast(r->team, &view, 0) != HUD_OK)
        abort();
}

static void a_call_that_differs_is_passed_on_by_all(void **state)
{
    (void)state;
    assert_non_null(strstr(
        roll_said(unequal_is_passed_by),
        "rank 0 calls MPI_Bcast(root 0, 1 bytes); rank 1 calls MPI_Bcast(root 1, 1 bytes); "));
}

static void nested_is_passed_on(struct rank *r)
{
    char byte = 0;
    struct hud_view view = { .base = &byte, .bytes = 1 };

    hud_barrier(r->team);
    roll_enter(r, r->number % 2 ? "scan" : "allreduce", -1, 8, NULL);
    for (int i = 0; i < 2; i++) {
        if (hud_bcast(r->team, &view, 0) != HUD_PASS)
            abort();
        hud_team_exit(r->team);
    }
    hud_team_exit(r->team);
    reduce(r, 8, NULL);
    roll_enter(r, "scan", -1, 8, NULL);
    if (hud_bcast(r->team, &view, 0) != HUD_OK)
        abort();
    hud_team_exit(r->team);
}

static void what_is_inside_a_call_that_differs_is_passed_on_too(void **state)
{
    (void)state;
    assert_non_null(strstr(roll_said(nested_is_passed_on), "call 2 of everybody"));
}

static void reduce_first(struct rank *r)
{
    reduce(r, 8, NULL);
    roll_meet(r);
    if (hud_barrier(r->team) != HUD_PASS)
        abort();
}

static void who_cannot_take_part_comes_and_says_so(void **state)
{
    (void)state;
    roll.of_rank_1 = "HUDDLE_BCAST=bogus";
    const char *line =
        strstr(roll_said(reduce_first), "huddle: rank 1: HUDDLE_BCAST=bogus is not understood");
    assert_true(line && strchr(line, '\n') == line + strlen(line) - 1);
    roll.of_rank_1 = "HUDDLE=off";
    assert_string_equal(roll_said(reduce_first), "");
    roll.of_rank_1 = NULL;
}

static void begin_with_a_barrier(struct rank *r)
{
    reduce(r, 8, NULL);
    roll_meet(r);
    if (hud_barrier(r->team) != HUD_OK)
        abort();
    reduce(r, r->number == 1 ? 16 : 8, NULL);
}

static void without_names_a_team_begins_with_a_call_that_huddle_takes(void **state)
{
    (void)state;
    roll.in_a_job = true;
    assert_string_equal(
        roll_said(begin_with_a_barrier),
        "huddle: check: call 2 of everybody (4 ranks): ranks 0, 2-3 call MPI_Allreduce(8 bytes); "
        "rank 1 calls MPI_Allreduce(16 bytes)\n");
    roll.in_a_job = false;
}

static void reduce_nothing(struct rank *r)
{
    if (r->number % 2)
        reduce(r, 0, NULL);
    roll_meet(r);
    if (hud_barrier(r->team) != HUD_OK)
        abort();
}

static void zero_bytes_set_nothing_up(void **state)
{
    (void)state;
    assert_string_equal(roll_said(reduce_nothing), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(those_who_agree_hear_nothing),
        cmocka_unit_test(a_difference_is_said_once),
        cmocka_unit_test(a_call_that_differs_is_passed_on_by_all),
        cmocka_unit_test(what_is_inside_a_call_that_differs_is_passed_on_too),
        cmocka_unit_test(who_cannot_take_part_comes_and_says_so),
        cmocka_unit_test(without_names_a_team_begins_with_a_call_that_huddle_takes),
        cmocka_unit_test(zero_bytes_set_nothing_up),
    };

    return roll_open() || cmocka_run_group_tests(tests, NULL, NULL);
}
