/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_realign.c - ranks of a team that has been given up follow a rank that is calls ahead: a call
 * fails if that rank has made it in huddle, and falls back if that rank has made it in the host
 * (core/watch/realign.h).
 *
 * Rank 0 is ahead.  Its calls are only counted, in an order that the test knows.
 */
#include "core/watch/deaths.h"
#include "core/watch/longwait.h"
#include "core/watch/realign.h"
#include "requested.h"

#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { PATTERNS = 60, LONG = 200000 };

static unsigned draw(uint32_t *random, unsigned below)
{
    *random = *random * 1664525 + 1013904223;
    return (*random >> 16) % below;
}

/* Counts a call of this rank, in huddle or by the host.  Calls in huddle have several slots, and
 * some begin with an allreduce of huddle's own. */
static void count_call(struct hud_team *team, bool by_host, unsigned how)
{
    static const struct coll call;
    struct member_state *mine = team->shm.mine;
    int slot = (int)(how % 3);

    if (by_host) {
        hud_realign_publish(team, 0);
        return;
    }
    if (how % 4 == 0) {
        mem_count_step(&mine->agreements);
        mem_count_step(&mine->calls[3]);
    }
    mem_count_step(&mine->calls[slot]);
    team->plan.call = &call;
}

/* Makes the next call of a rank that is behind.  Returns whether the rank follows rank 0. */
static bool follow(struct hud_team *team, bool by_host)
{
    int status = hud_realign(team);

    if (status == HUD_PASS && team->state.now == TEAM_ENDING)
        hud_realign_publish(team, 0);
    return team->state.now == TEAM_ENDING && status == (by_host ? HUD_PASS : HUD_ERR_UNLIKE);
}

/* Checks that the next call of both ranks falls back, as all calls do from then on. */
static void end_together(struct rank *r, struct hud_team *team)
{
    MUST(r, hud_realign(team) == HUD_PASS && team->state.now == TEAM_BROKEN);
}

static const char *const patterns[] = {
    "M",
    "MH",
    "HM",
    "MMHHM",
    "HMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMM", /* more calls to the host than are kept */
    "HHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHM"
};
enum { GIVEN = sizeof patterns / sizeof *patterns };

/* Writes the calls of a team, by the host (M) or in huddle (H): at most as many by the host as
 * are kept. */
static void choose(int number, char calls[64])
{
    uint32_t random = (uint32_t)number + 1;
    int by_host = 0, length = 1 + (int)draw(&random, 40);

    if (number < GIVEN) {
        strcpy(calls, patterns[number]);
        return;
    }
    for (int i = 0; i < length; i++) {
        bool host = draw(&random, 2) == 0 && by_host < MEMBER_BEFORE - 1;
        by_host += host;
        calls[i] = host ? 'M' : 'H';
    }
    calls[length] = '\0';
}

/* Lets rank 1 follow after rank 0 has made all its calls. */
static void follow_later(struct rank *r)
{
    for (int t = 0; t < r->team_count; t++) {
        struct hud_team *team = r->teams[t].team;
        char calls[64];
        MUST(r, hud_barrier(team) == HUD_OK);
        MUST(r, team->hooks.learn);
        choose(t, calls);
        for (int i = 0; r->rank == 0 && calls[i]; i++)
            count_call(team, calls[i] == 'M', (unsigned)i);
        hud_longwait_abandon(team, HUD_ERR_UNLIKE);
        ranks_meet(r);
        for (int i = 0; r->rank != 0 && calls[i]; i++)
            MUST(r, follow(team, calls[i] == 'M'));
        ranks_meet(r);
        end_together(r, team);
    }
}

static void calls_are_followed_in_their_order(void **state)
{
    static const char *const settings[] = { "HUDDLE_WISDOM=on", "HUDDLE_MEMORY=64M",
                                            "HUDDLE_LEASE=256K", "HUDDLE_LOG=quiet", NULL };

    (void)state;
    ranks_run(&(struct ranks){ .ranks = 3,
                               .teams = PATTERNS,
                               .blocking = true,
                               .settings = settings,
                               .body = follow_later });
}

static _Atomic int made, followed; /* calls of rank 0, and of rank 1 */

/* Waits until a number is at least `min`. */
static void await(_Atomic int *number, int min)
{
    while (*number < min)
        sched_yield();
}

/* Lets rank 1 follow while rank 0 makes its calls. */
static void follow_at_once(struct rank *r)
{
    struct hud_team *team = r->team;
    uint32_t random = 1;

    MUST(r, hud_barrier(team) == HUD_OK);
    if (r->rank != 0) {
        hud_longwait_abandon(team, HUD_ERR_UNLIKE);
        /* rank 0 must not learn of it, since a rank that has given up makes no calls in huddle */
        mem_count_put(&team_member(team, 0)->ends, 0);
    }
    ranks_meet(r);
    for (int i = 0; i < LONG; i++) {
        bool by_host = draw(&random, 2) == 0;
        if (r->rank == 0) {
            await(&followed, i - (MEMBER_BEFORE - 2));
            count_call(team, by_host, (unsigned)i);
            made++;
        } else {
            await(&made, i + 1);
            MUST(r, follow(team, by_host));
            followed++;
        }
    }
    if (r->rank == 0)
        hud_longwait_abandon(team, HUD_ERR_UNLIKE);
    ranks_meet(r);
    end_together(r, team);
}

static void calls_are_followed_while_a_rank_makes_them(void **state)
{
    static const char *const settings[] = { "HUDDLE_WISDOM=on", "HUDDLE_LOG=quiet", NULL };

    (void)state;
    ranks_run(&(struct ranks){
        .ranks = 2, .blocking = true, .settings = settings, .body = follow_at_once });
}

/* ---- calls of the host alone ---- */

/* Makes an allgather, which a setting leaves to the host. */
static int gather(struct rank *r)
{
    int mine = r->rank, all[2];
    const struct hud_view in = { .base = &mine, .bytes = sizeof mine },
                          out = { .base = all, .bytes = sizeof all };

    return hud_call(r->team,
                    &(struct hud_args){ .collective = COLL_ALLGATHER, .in = &in, .out = &out });
}

/* Announces an allgather of an operation that huddle does not handle. */
static int announce(struct rank *r)
{
    const struct hud_announced call = { .name = "allgather", .root = -1, .bytes = sizeof(int) };

    return hud_team_enter(r->team, &call) == HUD_OK ? HUD_PASS : HUD_ERR_UNLIKE;
}

static int (*leave)(struct rank *r); /* makes a call of the host */

/* Lets rank 0, which is not in huddle, learn that rank 1 has given up. */
static void learn_of_the_end(struct rank *r)
{
    MUST(r, hud_barrier(r->team) == HUD_OK);
    MUST(r, leave(r) == HUD_PASS && r->team->state.now == TEAM_READY);
    ranks_meet(r);
    if (r->rank != 0)
        hud_longwait_abandon(r->team, HUD_ERR_UNLIKE);
    ranks_meet(r);
    MUST(r, leave(r) == HUD_PASS && r->team->state.now == TEAM_ENDING);
    ranks_meet(r);
    MUST(r, hud_barrier(r->team) == HUD_PASS && r->team->state.now == TEAM_BROKEN);
}

static void rank_outside_of_huddle_learns_of_the_end(void **state)
{
    static const char *const settings[] = { "HUDDLE_ALLGATHER=mpi", "HUDDLE_TUNING=off",
                                            "HUDDLE_LOG=quiet", NULL };
    int (*const calls[])(struct rank *) = { gather, announce };

    (void)state;
    for (int i = 0; i < 2; i++) {
        leave = calls[i];
        ranks_run(&(struct ranks){
            .ranks = 2, .blocking = true, .settings = settings, .body = learn_of_the_end });
    }
}

/* ---- the name of the wait ---- */

/* Reads the note of rank 1 about its wait.  Waits until there is a note. */
static void read_wait(const struct hud_team *team, struct wait_note *note)
{
    const struct arena_head *head = deaths_head(team, 1);
    union wait_words words;

    for (bool found = false; !found; sched_yield())
        for (int i = 0; i < NOTE_COUNT && !found; i++) {
            found = mem_note_read(&head->note[i], words.word) && words.note.team == team->id.number;
            *note = words.note;
        }
}

static void wait_for_rank_0(struct rank *r)
{
    struct wait_note note;

    MUST(r, hud_barrier(r->team) == HUD_OK);
    if (r->rank == 0)
        read_wait(r->team, &note);
    if (r->rank == 0)
        MUST(r, strcmp(note.collective, "error recovery") == 0 && note.algorithm[0] == '\0');
    hud_longwait_abandon(r->team, HUD_ERR_UNLIKE);
    end_together(r, r->team);
}

static void wait_has_a_name(void **state)
{
    (void)state;
    ranks_run(&(struct ranks){
        .ranks = 2, .blocking = true, .settings = plain, .body = wait_for_rank_0 });
}

/* ---- a call that another member has left to the host ---- */

/* Lets rank 1 fail a call that rank 0 leaves to the host.  Rank 1 must not enter the host. */
static void fail_alone(struct rank *r)
{
    struct hud_team *team = r->team;

    MUST(r, hud_barrier(team) == HUD_OK);
    MUST(r, team->hooks.learn);
    if (r->rank == 0)
        hud_realign_publish(team, 0);
    else
        MUST(r, hud_team_fail(team) == HUD_ERR_MEMORY);
    ranks_meet(r);
    for (int i = 0; i < MEMBER_BEFORE && r->rank != 0; i++)
        MUST(r, hud_realign(team) == HUD_ERR_UNLIKE && team->state.now == TEAM_ENDING);
}

static void calls_fail_after_one_in_the_host_was_missed(void **state)
{
    static const char *const settings[] = { "HUDDLE_WISDOM=on", "HUDDLE_LOG=quiet", NULL };

    (void)state;
    ranks_run(
        &(struct ranks){ .ranks = 2, .blocking = true, .settings = settings, .body = fail_alone });
}

/* ---- calls of zero bytes ---- */

static const struct hud_view nothing;

/* Lets rank 1 alone make a call of zero bytes, as if the MPI of rank 0 had returned early. */
static void pass_nothing(struct rank *r)
{
    MUST(r, hud_barrier(r->team) == HUD_OK);
    MUST(r, r->rank == 0 || hud_bcast(r->team, &nothing, 0) == HUD_OK);
    hud_longwait_abandon(r->team, HUD_ERR_UNLIKE);
    MUST(r, r->rank == 0 || hud_bcast(r->team, &nothing, 0) == HUD_OK);
    ranks_meet(r);
    end_together(r, r->team);
}

static void calls_of_zero_bytes_are_not_counted(void **state)
{
    (void)state;
    on_ranks(2, 1, plain, pass_nothing);
}

/* Makes a call of zero bytes while a request is pending, which rank 1 starts only afterwards. */
static void overtake(struct rank *r)
{
    int passed = 0;
    hud_request *request = create(r, r->team, "barrier", NULL, &passed);

    MUST(r, hud_barrier(r->team) == HUD_OK);
    if (r->rank != 0)
        ranks_meet(r);
    MUST(r, hud_request_start(request) == HUD_OK);
    MUST(r, hud_bcast(r->team, &nothing, 0) == HUD_OK);
    if (r->rank == 0)
        ranks_meet(r);
    finish(r, request, HUD_OK);
}

static void calls_of_zero_bytes_do_not_wait(void **state)
{
    (void)state;
    on_ranks(2, 1, plain, overtake);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_are_followed_in_their_order),
        cmocka_unit_test(calls_are_followed_while_a_rank_makes_them),
        cmocka_unit_test(rank_outside_of_huddle_learns_of_the_end),
        cmocka_unit_test(wait_has_a_name),
        cmocka_unit_test(calls_fail_after_one_in_the_host_was_missed),
        cmocka_unit_test(calls_of_zero_bytes_are_not_counted),
        cmocka_unit_test(calls_of_zero_bytes_do_not_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
