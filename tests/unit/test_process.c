/* SPDX-License-Identifier: BSD-3-Clause */
/* test_process.c - whether a process has ended: a running process, a zombie, another process with
 * its number; with and without pidfd, and after a restart. */
#define _GNU_SOURCE
#include "../mpi/forbid.h"
#include "base/process.h"

#include <sched.h>
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

/* Returns the number of the first failed check, or 0. */
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

static void ended_processes_are_detected_by_pidfd(void **state)
{
    (void)state;
    assert_int_equal(examine(), 0);
}

/* Runs in a separate process, because a forbidden call stays forbidden. */
static void ended_processes_are_detected_without_pidfd(void **state)
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

enum { CANNOT_SEPARATE = 99 };

/* Continues in a child with this process's number, in a PID namespace of its own: the same memory
 * in a process that started later, as after a restart. Returns the child's exit status. */
static int go_on_in_child(int (*rest)(void))
{
    int status;

    if (unshare(CLONE_NEWPID) != 0)
        return CANNOT_SEPARATE;
    pid_t pid = fork();
    if (pid == 0)
        _exit(rest());
    return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

enum { NOBODY = 4000000 };

static int after_restart(void)
{
    return hud_process_ended(NOBODY, 1) ? 3 : 0;
}

static int before_restart(void)
{
    hud_process_note();
    if (!hud_process_ended(NOBODY, 1))
        return 2;
    usleep(50000); /* start times have a resolution of 10 ms */
    return go_on_in_child(after_restart);
}

static void no_process_counts_as_ended_after_a_restart(void **state)
{
    int status;
    pid_t pid = fork(); /* its children are in other namespaces */

    (void)state;
    if (pid == 0)
        _exit(go_on_in_child(before_restart));
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == CANNOT_SEPARATE)
        skip(); /* only root may do this */
    assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ended_processes_are_detected_by_pidfd),
        cmocka_unit_test(ended_processes_are_detected_without_pidfd),
        cmocka_unit_test(no_process_counts_as_ended_after_a_restart),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
