/* SPDX-License-Identifier: BSD-3-Clause */
/* test_process.c - whether a process has ended: one that runs, a zombie, another with its number;
 * with and without pidfd. */
#define _GNU_SOURCE
#include "../mpi/forbid.h"
#include "core/process.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static pid_t start_child(void)
{
    pid_t pid = fork();

    if (pid == 0) {
        pause();
        _exit(0);
    }
    return pid;
}

/* The number of the first thing that is wrong; 0: nothing. */
static int examine(void)
{
    siginfo_t end;
    pid_t pid = start_child();
    uint64_t started = hud_process_started(pid);
    int wrong = started == 0                           ? 1
                : hud_process_ended(pid, 0)            ? 2
                : hud_process_ended(pid, started)      ? 3
                : !hud_process_ended(pid, started + 1) ? 4
                : hud_process_ended(0, 0)              ? 5
                                                       : 0;

    kill(pid, SIGKILL);
    waitid(P_PID, (id_t)pid, &end, WEXITED | WNOWAIT); /* a zombie from now on */
    if (wrong == 0)
        wrong = !hud_process_ended(pid, 0) ? 6 : !hud_process_ended(pid, started) ? 7 : 0;
    waitpid(pid, NULL, 0);
    if (wrong == 0)
        wrong = !hud_process_ended(pid, started) ? 8 : 0;
    return wrong;
}

static void by_pidfd(void **state)
{
    (void)state;
    assert_int_equal(examine(), 0);
}

/* In a process of its own: what is forbidden stays so. */
static void without_pidfd(void **state)
{
    enum { CANNOT_FORBID = 99 };
    char name[] = "pidfd_open";
    int status;
    pid_t pid = fork();

    (void)state;
    if (pid == 0)
        _exit(forbid(name) != 0 || syscall(SYS_pidfd_open, getpid(), 0) >= 0 ? CANNOT_FORBID
                                                                             : examine());
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == CANNOT_FORBID)
        skip(); /* no system call filters here */
    assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_pidfd),
        cmocka_unit_test(without_pidfd),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
