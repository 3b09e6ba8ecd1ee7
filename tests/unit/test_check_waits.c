/* SPDX-License-Identifier: BSD-3-Clause */
/* test_check_waits.c - HUDDLE_CHECK without an MPI: what is said of a rank that keeps the others
 * waiting.  Ranks are threads, or processes. */
#include "roll.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* The others are looked at after the clock. */
static void look_too_soon(struct rank *r)
{
    hud_barrier(r->team);
    hud_barrier(r->team);
    struct check *check = r->team->check;
    roll_meet(r);
    if (r->number == 0) {
        pthread_mutex_lock(&r->context->watch.lock);
        check->call++;
        check->stage = CHECK_COMING;
        for (int m = 0; m < RANKS; m++)
            check->member[m].there = false; /* as the watch may have seen them in the call before */
        hud_complain_wait(check, 0, 1);
        check->call--;
        check->stage = CHECK_IDLE;
        pthread_mutex_unlock(&r->context->watch.lock);
    }
    roll_meet(r);
}

static void time_does_not_run_backwards(void **state)
{
    (void)state;
    assert_non_null(strstr(
        roll_said(look_too_soon),
        "missing: rank 0 (came back from call 2, MPI_Barrier, 0.0 s ago), rank 1 (came back "));
}

static void come_late(struct rank *r)
{
    hud_barrier(r->team);
    if (r->number == 1)
        usleep(1700000);
    hud_barrier(r->team);
}

static void who_does_not_come_is_named(void **state)
{
    const char *line;

    (void)state;
    line = roll_said(come_late);
    assert_non_null(strstr(line, " s of waiting in call 2 of everybody (4 ranks): ranks 0, 2-3 "
                                 "call MPI_Barrier; missing: rank 1 (came back from "
                                 "call 1, MPI_Barrier, "));
    assert_null(strstr(line, "has ended"));
}

static void stay_inside(struct rank *r)
{
    roll_enter(r, "scan", -1, 8, "MPI_SUM");
    if (r->number >= 2)
        usleep(1700000);
    hud_team_exit(r->team);
}

static void who_does_not_come_back_is_named(void **state)
{
    (void)state;
    assert_non_null(strstr(roll_said(stay_inside),
                           " s of waiting in call 1 of everybody (4 ranks): ranks 0-1 are back "
                           "from MPI_Scan(8 bytes, MPI_SUM); "
                           "ranks 2-3 call MPI_Scan(8 bytes, MPI_SUM)\n"));
}

static void end_early(struct rank *r)
{
    hud_barrier(r->team);
    if (r->number == 3)
        _exit(0);
    hud_barrier(r->team);
    _exit(1); /* without rank 3? */
}

/* What comes out of a pipe until it holds `want`, or for half a minute. */
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

/* Processes: the others are ended when the line was there, or never came.  On a slow machine other
 * lines come first: a process takes its time to end. */
static void who_has_ended_is_named(void **state)
{
    char text[16384], want[64];
    int end[2];
    pid_t pid[RANKS];

    (void)state;
    assert_int_equal(pipe(end), 0);
    for (int r = 0; r < RANKS; r++) {
        pid[r] = fork();
        if (pid[r] == 0) {
            dup2(end[1], STDERR_FILENO);
            close(end[1]);
            roll_run(&(struct rank){ .number = r, .body = end_early });
        }
    }
    close(end[1]);
    snprintf(want, sizeof want, "missing: rank 3 (process %d has ended; came back", (int)pid[3]);
    listen_for(want, end[0], text, sizeof text);
    for (int r = 0; r < RANKS; r++)
        kill(pid[r], SIGKILL);
    while (wait(NULL) > 0)
        ;
    close(end[0]);
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

/* Ranks 1 and 2 wait in the second roll call while rank 0 waits for rank 3 in the call before
 * it. */
static void contribute_late(struct rank *r)
{
    uint32_t one = 1, sum = 0;
    struct hud_view in = { .base = &one, .bytes = 4, .pack = r->number == 3 ? pack_slowly : NULL },
                    out = { .base = &sum, .bytes = 4 };
    struct hud_op op;

    hud_op_find(HUD_SUM, HUD_UINT32, &op);
    answer[r->number][0] = hud_reduce(r->team, &in, r->number == 0 ? &out : NULL, &op, 0);
    answer[r->number][1] = hud_barrier(r->team);
}

static void who_is_in_the_next_roll_call_makes_no_other_call(void **state)
{
    (void)state;
    assert_string_equal(roll_said(contribute_late), "");
    for (int r = 0; r < RANKS; r++) {
        assert_int_equal(answer[r][0], HUD_OK);
        assert_int_equal(answer[r][1], HUD_OK);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(time_does_not_run_backwards),
        cmocka_unit_test(who_does_not_come_is_named),
        cmocka_unit_test(who_does_not_come_back_is_named),
        cmocka_unit_test(who_has_ended_is_named),
        cmocka_unit_test(who_is_in_the_next_roll_call_makes_no_other_call),
    };

    return roll_open() || cmocka_run_group_tests(tests, NULL, NULL);
}
