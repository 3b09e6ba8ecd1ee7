/* SPDX-License-Identifier: BSD-3-Clause */
/* test_wisdom_faults.c - nothing of the file of wisdom is lost if a system call fails, if a writer
 * is killed, or if another process writes. */
#include "wisdom_files.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

/* Lets the first call fail, then the second call, and so on, with these errors.  The old lines must
 * be there afterwards, and the new line if the writer returns true. */
static void nothing_is_lost_if_a_call_fails(void **state)
{
    static const int errors[] = { ENOSPC, EIO, EACCES, EEXIST };
    int reached = 0;

    (void)state;
    for (size_t e = 0; e < sizeof errors / sizeof *errors; e++)
        for (int n = 1, calls = n; calls >= n - 1; n++) {
            int number = 2 + n;
            files_begin_fault(0, 0);
            unlink(files.place.path);
            unlink(files.new_path);
            assert_true(files_write_cell(1) && files_write_cell(2));
            files_begin_fault(n, errors[e]);
            struct rule r = files_cell(number);
            bool there = hud_wisdom_write(&files.place, &r, 1, false, files.why);
            calls = files.calls;
            files_begin_fault(0, 0);
            assert_null(strchr(files.why, '\n'));
            int count = files_read();
            assert_int_equal(count, 2 + files_has(number));
            assert_true(files_has(1) && files_has(2) && (files_has(number) || !there));
            reached += !there;
        }
    assert_true(reached > 20);
}

static void nothing_is_lost_if_a_writer_is_killed(void **state)
{
    int killed = 0;

    (void)state;
    for (int n = 1; n < 40; n++) {
        char other[NAME_MAX + 1];
        int status;
        unlink(files.place.path);
        assert_true(files_write_cell(1));
        pid_t child = fork();
        if (child == 0) {
            files_begin_fault(n, -1);
            files_write_cell(2);
            _exit(0);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        killed += WIFSIGNALED(status);
        int count = files_read();
        assert_int_equal(count, 1 + files_has(2));
        assert_true(files_has(1));
        if (files_exists(files.new_path)) {
            /* A new file may be that of a process that is writing. */
            struct rule r = files_cell(3);
            assert_false(hud_wisdom_write(&files.place, &r, 1, false, files.why));
            assert_string_equal(files.why, "");
            files_make_old(files.new_path);
        }
        assert_true(files_write_cell(3));
        assert_true(files_read() >= 2 && files_has(1) && files_has(3));
        assert_int_equal(files_count(other), 1); /* neither the lock nor the data */
    }
    assert_in_range(killed, 8, 39);
}

/* Ends with the data file of a killed writer in place.  Its name is in `data`. */
static void leave_data(char data[NAME_MAX + 1], pid_t *writer)
{
    data[0] = '\0';
    for (int n = 1; n < 40 && strchr(data, '.') == NULL; n++) {
        int status;
        unlink(files.new_path);
        *writer = fork();
        if (*writer == 0) {
            files_begin_fault(n, -1);
            files_write_cell(2);
            _exit(0);
        }
        assert_int_equal(waitpid(*writer, &status, 0), *writer);
        if (files_count(data) < 3) /* the file, the lock, the data */
            data[0] = '\0';
    }
    assert_string_not_equal(data, "");
}

static void data_have_the_name_of_host_and_process(void **state)
{
    static const char *const hosts[][2] = {
        { "node-1.a_b", "node-1.a_b" },
        { "../a b\n\xc3\xa9", ".._a_b___" },
        { "", "_" },
        { "0123456789abcdefghijklmnopqrstuvwxyz0123456789abcdefghijklmnopqrstuvwxyz",
          "0123456789abcdefghijklmnopqrstuvwxyz0123456789abcdefghijklmnopqr" },
    };
    char data[NAME_MAX + 1], name[2 * PATH_MAX], other[PATH_MAX + 16], left[NAME_MAX + 1];
    pid_t writer = 0;

    (void)state;
    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++) {
        assert_true(files_write_cell(1));
        files.host = hosts[i][0];
        leave_data(data, &writer);
        snprintf(name, sizeof name, "%s.%s.%d", files.new_path, hosts[i][1], (int)writer);
        assert_true(files_exists(name));
        snprintf(other, sizeof other, "%s.mine", files.new_path); /* file of a person */
        files_put(other, "", 0);
        files_make_old(files.new_path);
        files.host = "another";
        assert_true(files_write_cell(3));
        assert_false(files_exists(name));
        assert_true(files_exists(other));
        assert_int_equal(unlink(other), 0);
        assert_int_equal(files_count(left), 1);
        assert_int_equal(unlink(files.place.path), 0);
    }
}

/* Lets another process write, for which the lock of this process is too old. */
static void take_over(void)
{
    int status;

    files_begin_fault(0, 0);
    if (files_exists(files.new_path))
        files_make_old(files.new_path);
    pid_t child = fork();
    if (child == 0)
        _exit(!files_write_cell(5));
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

/* Lets another process write before the first call, before the second call, and so on. */
static void late_writer_replaces_nothing(void **state)
{
    char other[NAME_MAX + 1];
    int late = 0, in_time = 0, n = 1;

    (void)state;
    for (bool taken = true; taken; n++) {
        unlink(files.place.path);
        assert_true(files_write_cell(1));
        files.instead = take_over;
        files_begin_fault(n, 0);
        bool there = files_write_cell(2);
        taken = files.countdown == 0; /* else there was no such call */
        files.instead = NULL;
        files_begin_fault(0, 0);
        assert_string_equal(files.why, "");
        assert_int_equal(files_read(), 1 + taken + there);
        assert_true(files_has(1) && files_has(5) == taken && files_has(2) == there);
        assert_int_equal(files_count(other), 1);
        late += !there;
        in_time += there;
    }
    assert_in_range(late, 5, 40);
    assert_in_range(in_time, 4, 40);
}

static void wait_for_another_writer_is_short(void **state)
{
    struct timespec from, to;
    struct rule r = files_cell(2);

    (void)state;
    assert_true(files_write_cell(1));
    files_put(files.new_path, "", 0);
    clock_gettime(CLOCK_MONOTONIC, &from);
    assert_false(hud_wisdom_write(&files.place, &r, 1, true, files.why));
    clock_gettime(CLOCK_MONOTONIC, &to);
    long ms = (to.tv_sec - from.tv_sec) * 1000 + (to.tv_nsec - from.tv_nsec) / 1000000;
    assert_in_range(ms, WISDOM_WAIT_MS, 20 * WISDOM_WAIT_MS);
    assert_string_equal(files.why, "");
    assert_true(files_exists(files.new_path)); /* it may be somebody's */
}

/* ---- several writers ---- */

enum { TOGETHER = 2 };

/* Runs jobs that end two at a time, each with its own decision and a decision of all jobs.  Each
 * written decision is in the file at the end. */
static void jobs_that_end_together_lose_nothing(void **state)
{
    const bool full = getenv("HUD_TEST_FULL") != NULL;
    const int jobs = full ? 1000 : 60;
    static bool wrote[1000];
    int written = 0;

    (void)state;
    for (int j = 0; j < jobs; j += TOGETHER) {
        pid_t child[TOGETHER];
        for (int i = 0; i < TOGETHER; i++) {
            child[i] = fork();
            if (child[i] == 0) {
                struct rule both[] = { files_cell(j + i + 1), files_cell(0) };
                both[1].samples += j;
                _exit(!hud_wisdom_write(&files.place, both, 2, true, files.why));
            }
        }
        for (int i = 0; i < TOGETHER; i++) {
            int status;
            assert_int_equal(waitpid(child[i], &status, 0), child[i]);
            wrote[j + i] = status == 0;
            written += wrote[j + i];
        }
    }
    assert_int_equal(files_read(), written + 1);
    assert_string_equal(files.why, "");
    assert_int_equal(files.rules.wrong, 0);
    for (int j = 0; j < jobs; j++)
        assert_int_equal(files_has(j + 1), wrote[j]);
    assert_true(written > jobs * 9 / 10);
    assert_false(files_exists(files.new_path));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FILES_TEST(nothing_is_lost_if_a_call_fails),
        FILES_TEST(nothing_is_lost_if_a_writer_is_killed),
        FILES_TEST(data_have_the_name_of_host_and_process),
        FILES_TEST(late_writer_replaces_nothing),
        FILES_TEST(wait_for_another_writer_is_short),
        FILES_TEST(jobs_that_end_together_lose_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
