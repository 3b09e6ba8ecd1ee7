/* SPDX-License-Identifier: BSD-3-Clause */
/* test_fork_team.c - ranks without MPI form a team. A rank that fails, dies or hangs ends the run
 * with a message. */
#include "captured.h"
#include "fork_team/fork_team.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { RANKS = 3, LIMIT_S = 60 };

/* Runs the ranks. Fails unless the run has this status and prints this text. */
static void run(struct fork_team team, int status, const char *text)
{
    team.ranks = RANKS;
    team.limit_s = team.limit_s ? team.limit_s : LIMIT_S;
    captured_begin();
    int got = fork_team_run(&team);
    const char *printed = captured_end();
    assert_int_equal(got, status);
    assert_string_equal(printed, text);
}

static int use_team(struct fork_rank *self, void *arg)
{
    static const char *const settings[] = { "HUDDLE_LOG=quiet", NULL };

    (void)arg;
    if (fork_team_join(self, settings) != HUD_OK || hud_barrier(self->team) != HUD_OK)
        fork_team_fail(self, "no barrier");
    fork_team_leave(self);
    return 0;
}

static void ranks_form_a_team(void **state)
{
    (void)state;
    run((struct fork_team){ .body = use_team }, 0, "");
    run((struct fork_team){ .body = use_team, .threads = true }, 0, "");
}

static int fail_twice(struct fork_rank *self, void *arg)
{
    (void)arg;
    if (self->rank == 1)
        fork_team_fail(self, "%d bytes are wrong", 8);
    if (self->rank == 1)
        fork_team_fail(self, "this is not printed");
    fork_team_meet(self); /* a rank that fails continues */
    return 0;
}

static void failing_rank_prints_its_first_message(void **state)
{
    (void)state;
    run((struct fork_team){ .body = fail_twice }, 1, "rank 1 of 3: 8 bytes are wrong\n");
    run((struct fork_team){ .body = fail_twice, .threads = true }, 1,
        "rank 1 of 3: 8 bytes are wrong\n");
}

static int return_while_others_wait(struct fork_rank *self, void *arg)
{
    if (self->rank == 2)
        return *(int *)arg;
    fork_team_meet(self);
    return 0;
}

static int die_while_others_wait(struct fork_rank *self, void *arg)
{
    (void)arg;
    if (self->rank == 2)
        raise(SIGKILL);
    fork_team_meet(self);
    return 0;
}

static void dead_process_ends_the_others(void **state)
{
    int status = 5;

    (void)state;
    run((struct fork_team){ .body = return_while_others_wait, .arg = &status }, status, "");
    run((struct fork_team){ .body = die_while_others_wait }, 1,
        "rank 2 of 3: killed by signal 9\n");
}

static int hang(struct fork_rank *self, void *arg)
{
    (void)arg;
    while (self->rank == 1)
        pause();
    return 0;
}

static void hanging_process_is_killed(void **state)
{
    (void)state;
    run((struct fork_team){ .body = hang, .limit_s = 1 }, 1,
        "rank 1 of 3: did not end within 1 s\n");
}

static void hanging_thread_ends_its_process(void **state)
{
    (void)state;
#ifdef __SANITIZE_THREAD__
    skip(); /* it reports the thread at the end of the process */
#else
    int status;

    captured_begin();
    pid_t child = fork();
    if (child == 0) {
        fork_team_run(
            &(struct fork_team){ .ranks = RANKS, .threads = true, .limit_s = 1, .body = hang });
        _exit(0);
    }
    waitpid(child, &status, 0);
    assert_string_equal(captured_end(), "rank 1 of 3: did not end within 1 s\n");
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 1);
#endif
}

static int print_rank(struct fork_rank *self, void *arg)
{
    (void)arg;
    fprintf(self->out, "output of rank %d", self->rank);
    return 0;
}

static void output_of_processes_can_be_read(void **state)
{
    struct fork_team team = { .ranks = RANKS, .limit_s = LIMIT_S, .body = print_rank };
    int from[RANKS];

    (void)state;
    assert_int_equal(fork_team_start(&team, from), 0);
    for (int r = 0; r < RANKS; r++) {
        char text[64] = "", expected[64];
        snprintf(expected, sizeof expected, "output of rank %d", r);
        assert_true(read(from[r], text, sizeof text - 1) > 0);
        assert_string_equal(text, expected);
        close(from[r]);
    }
    assert_int_equal(fork_team_end(&team), 0);
}

static int die_while_others_stay(struct fork_rank *self, void *arg)
{
    (void)arg;
    if (self->rank == 1)
        raise(SIGKILL);
    pause();
    return 0;
}

static void process_that_died_is_found_while_the_others_stay(void **state)
{
    struct fork_team team = { .ranks = RANKS, .limit_s = LIMIT_S, .body = die_while_others_stay };
    int status, rank;

    (void)state;
    assert_int_equal(fork_team_start(&team, NULL), 0);
    while ((rank = fork_team_reap(&team, &status)) < 0)
        usleep(1000);
    assert_int_equal(rank, 1);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    assert_int_equal(fork_team_reap(&team, &status), -1);
    assert_int_equal(kill(fork_team_pid(&team, 0), 0), 0);
    fork_team_kill(&team);
    assert_int_equal(waitpid(-1, &status, WNOHANG), -1); /* no process is left */
}

static int stay_if_first(struct fork_rank *self, void *arg)
{
    (void)arg;
    while (self->rank == 0)
        pause();
    return 4 + self->rank;
}

static void each_process_can_be_awaited(void **state)
{
    struct fork_team team = { .ranks = RANKS, .limit_s = LIMIT_S, .body = stay_if_first };

    (void)state;
    assert_int_equal(fork_team_start(&team, NULL), 0);
    for (int r = RANKS - 1; r > 0; r--) {
        int status = fork_team_await(&team, r);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 4 + r);
    }
    assert_int_equal(kill(fork_team_pid(&team, 0), SIGKILL), 0);
    int status = fork_team_await(&team, 0);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    fork_team_kill(&team);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_form_a_team),
        cmocka_unit_test(failing_rank_prints_its_first_message),
        cmocka_unit_test(dead_process_ends_the_others),
        cmocka_unit_test(hanging_process_is_killed),
        cmocka_unit_test(hanging_thread_ends_its_process),
        cmocka_unit_test(output_of_processes_can_be_read),
        cmocka_unit_test(process_that_died_is_found_while_the_others_stay),
        cmocka_unit_test(each_process_can_be_awaited),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
