/* SPDX-License-Identifier: BSD-3-Clause */
/* test_check_waits.c - HUDDLE_CHECK without an MPI: the reports of ranks that keep the others
 * waiting. Ranks are threads or processes. */
#include "checked.h"

#include "core/watch/watch.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Reads the others' state after the clock. */
static void look_too_soon(struct rank *r)
{
    hud_barrier(r->team);
    hud_barrier(r->team);
    struct check *check = r->team->hooks.check;
    ranks_meet(r);
    if (r->rank == 0) {
        pthread_mutex_lock(&r->context->calls.watch->lock);
        check->call++;
        check->stage = CHECK_COMING;
        for (int m = 0; m < RANKS; m++)
            check->member[m].there = false; /* the watch may have seen them so in the call before */
        hud_rollcall_report_wait(check, 0, 1);
        check->call--;
        check->stage = CHECK_IDLE;
        pthread_mutex_unlock(&r->context->calls.watch->lock);
    }
    ranks_meet(r);
}

static void reported_times_are_not_negative(void **state)
{
    (void)state;
    assert_non_null(strstr(
        checked_stderr_of(look_too_soon),
        "missing: rank 0 (came back from call 2, MPI_Barrier, 0.0 s ago), rank 1 (came back "));
}

static void come_late(struct rank *r)
{
    hud_barrier(r->team);
    if (r->rank == 1)
        usleep(1700000);
    hud_barrier(r->team);
}

static void rank_missing_from_a_call_is_reported(void **state)
{
    const char *line;

    (void)state;
    line = checked_stderr_of(come_late);
    assert_non_null(strstr(line, " s of waiting in call 2 of everybody (4 ranks): ranks 0, 2-3 "
                                 "call MPI_Barrier; missing: rank 1 (came back from "
                                 "call 1, MPI_Barrier, "));
    assert_null(strstr(line, "has ended"));
}

static void stay_inside(struct rank *r)
{
    checked_enter(r, "scan", -1, 8, "MPI_SUM");
    if (r->rank >= 2)
        usleep(1700000);
    hud_team_exit(r->team);
}

static void rank_staying_in_a_call_is_reported(void **state)
{
    (void)state;
    assert_non_null(strstr(checked_stderr_of(stay_inside),
                           " s of waiting in call 1 of everybody (4 ranks): ranks 0-1 are back "
                           "from MPI_Scan(8 bytes, MPI_SUM); "
                           "ranks 2-3 call MPI_Scan(8 bytes, MPI_SUM)\n"));
}

static int lines[2]; /* a pipe with the lines of all ranks */

static void end_early(struct rank *r)
{
    dup2(lines[1], STDERR_FILENO);
    close(lines[1]);
    hud_barrier(r->team);
    if (r->rank == 3)
        _exit(0);
    hud_barrier(r->team);
    _exit(1); /* must not return without rank 3 */
}

/* Reads from a pipe until the text contains `want`, for at most half a minute. */
static void listen_for(const char *want, int from, char *text, size_t bytes)
{
    struct pollfd ready = { .fd = from, .events = POLLIN };
    time_t until = time(NULL) + 30;
    size_t used = 0;
    ssize_t got = 1;

    for (text[0] = '\0'; got > 0 && !strstr(text, want) && used < bytes - 1 && time(NULL) < until;
         text[used] = '\0')
        if (poll(&ready, 1, 1000) == 1) {
            got = read(from, text + used, bytes - 1 - used);
            used += got > 0 ? (size_t)got : 0;
        }
}

/* Runs ranks as processes. The others are killed after the line was read, or did not come. On a
 * slow machine other lines come first, because a process needs time to end. */
static void ended_rank_is_reported(void **state)
{
    const struct ranks all = { .ranks = RANKS,
                               .processes = true,
                               .blocking = true,
                               .name = "everybody",
                               .settings = checked_settings,
                               .body = end_early };
    struct fork_team team = ranks_to_start(&all);
    char text[16384], want[64];

    (void)state;
    assert_int_equal(pipe(lines), 0);
    assert_int_equal(fork_team_start(&team, NULL), 0);
    close(lines[1]);
    snprintf(want, sizeof want, "missing: rank 3 (process %d has ended; came back",
             (int)fork_team_pid(&team, 3));
    listen_for(want, lines[0], text, sizeof text);
    fork_team_kill(&team);
    close(lines[0]);
    if (!strstr(text, want))
        fail_msg("no '%s' in: %s", want, text);
}

static int answer[RANKS][2];

static size_t pack_slowly(const struct hud_view *view, void *dst, size_t offset_bytes,
                          size_t max_bytes)
{
    usleep(400000);
    memcpy(dst, (const char *)view->base + offset_bytes, max_bytes);
    return max_bytes;
}

/* Makes ranks 1 and 2 wait in the second roll call while rank 0 waits for rank 3 in the call
 * before. */
static void contribute_late(struct rank *r)
{
    uint32_t one = 1, sum = 0;
    struct hud_view in = { .base = &one, .bytes = 4, .pack = r->rank == 3 ? pack_slowly : NULL },
                    out = { .base = &sum, .bytes = 4 };
    struct hud_op op;

    hud_op_find(HUD_SUM, HUD_UINT32, &op);
    answer[r->rank][0] = hud_reduce(r->team, &in, r->rank == 0 ? &out : NULL, &op, 0);
    answer[r->rank][1] = hud_barrier(r->team);
}

static void rank_in_the_next_roll_call_is_not_reported(void **state)
{
    (void)state;
    assert_string_equal(checked_stderr_of(contribute_late), "");
    for (int r = 0; r < RANKS; r++) {
        assert_int_equal(answer[r][0], HUD_OK);
        assert_int_equal(answer[r][1], HUD_OK);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reported_times_are_not_negative),
        cmocka_unit_test(rank_missing_from_a_call_is_reported),
        cmocka_unit_test(rank_staying_in_a_call_is_reported),
        cmocka_unit_test(ended_rank_is_reported),
        cmocka_unit_test(rank_in_the_next_roll_call_is_not_reported),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
