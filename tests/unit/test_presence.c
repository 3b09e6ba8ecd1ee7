/* SPDX-License-Identifier: BSD-3-Clause */
/* test_presence.c - a rank is there while its process lives, under its job's name only. */
#include "core/presence.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* A process that announces itself as `rank` of `job` and lives until the pipe is closed; returns when it has. */
static pid_t start(const char *job, const char *rank, bool checked, int *end)
{
    int ready[2], stay[2];
    char byte;

    if (pipe(ready) != 0 || pipe(stay) != 0)
        abort();
    pid_t child = fork();
    if (child == 0) {
        close(stay[1]);
        setenv("HUDDLE_JOB", job, 1);
        setenv("PMI_RANK", rank, 1);
        hud_presence_announce(HUD_LAUNCHERS_HYDRA, checked);
        byte = hud_presence_known() ? 'y' : 'n';
        if (write(ready[1], &byte, 1) != 1 || read(stay[0], &byte, 1) > 0)
            _exit(1);
        _exit(0);
    }
    close(stay[0]);
    *end = stay[1];
    if (read(ready[0], &byte, 1) != 1 || byte != 'y')
        abort();
    close(ready[0]);
    close(ready[1]);
    return child;
}

static void ranks_are_there_while_they_live(void **state)
{
    int end3, end4, end5, status;
    pid_t rank3 = start("test-job", "3", false, &end3), other = start("another-job", "4", false, &end4);
    pid_t checks = start("test-job", "5", true, &end5);

    (void)state;
    setenv("HUDDLE_JOB", "test-job", 1);
    setenv("PMI_RANK", "0", 1);
    hud_presence_announce(HUD_LAUNCHERS_HYDRA, false);
    assert_true(hud_presence_known());
    assert_true(hud_presence_of(0));
    assert_true(hud_presence_is(0) && !hud_presence_is(3));
    assert_false(hud_presence_of(1));
    assert_false(hud_presence_of(4)); /* of another job */
    assert_false(hud_presence_of(5)); /* with HUDDLE_CHECK, this one without */
    assert_false(hud_presence_of(-1));
    assert_true(hud_presence_of(3));
    close(end3);
    close(end4);
    close(end5);
    waitpid(rank3, &status, 0);
    assert_int_equal(status, 0);
    waitpid(other, &status, 0);
    assert_int_equal(status, 0);
    waitpid(checks, &status, 0);
    assert_int_equal(status, 0);
    assert_true(hud_presence_of(3)); /* once there, part of the job */
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(ranks_are_there_while_they_live) };

    unsetenv("PMIX_NAMESPACE");
    unsetenv("HYDI_CONTROL_FD");
    unsetenv("HYDRA_BSTRAP_UPSTREAM_FD");
    unsetenv("SLURM_JOB_ID");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
