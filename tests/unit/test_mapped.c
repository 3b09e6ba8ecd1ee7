/* SPDX-License-Identifier: BSD-3-Clause */
/* test_mapped.c - copies by mapping another process's memory, with the fake libxpmem. */
#define _GNU_SOURCE
#include "core/arena/direct.h"
#include "mem/mapped.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { MB = 1 << 20, PAGE = 4096, UNIT = 2 * MB };

static int64_t offer;
static struct mem_mapped *self;

static int fake(const char *counter)
{
    void *library = dlopen("libxpmem.so.0", RTLD_NOW);
    const int *at = library ? dlsym(library, counter) : NULL;

    assert_non_null(at);
    return *at;
}

static int attached(void)
{
    return fake("fake_xpmem_attached") - fake("fake_xpmem_detached");
}

static struct sigaction before;

/* Opens a peer. Call within a test, because cmocka installs its own signal handlers there. */
static void begin(bool keeps)
{
    unsetenv("FAKE_XPMEM_FAILS");
    sigaction(SIGBUS, NULL, &before);
    offer = hud_mapped_offer();
    assert_true(offer > 0);
    self = hud_mapped_open(offer, keeps);
    assert_non_null(self);
}

/* Closes the peer, and checks that nothing remains. */
static void end(void)
{
    struct sigaction now;

    hud_mapped_close(self);
    hud_mapped_withdraw();
    sigaction(SIGBUS, NULL, &now);
    assert_ptr_equal(now.sa_handler, before.sa_handler);
    assert_int_equal(attached(), 0);
    assert_int_equal(fake("fake_xpmem_made"), 0);
    assert_int_equal(fake("fake_xpmem_got"), 0);
}

static uint64_t number(const void *at)
{
    return (uint64_t)(uintptr_t)at;
}

static void move_both_ways(bool keeps)
{
    static char there[3 * PAGE], here[3 * PAGE];

    begin(keeps);
    for (int i = 0; i < 3 * PAGE; i++)
        there[i] = (char)(i * 7 + 1);
    assert_int_equal(hud_mapped_read(self, number(there) + 5, here + 1, 2 * PAGE), 2 * PAGE);
    assert_memory_equal(here + 1, there + 5, 2 * PAGE);
    memset(here, 3, sizeof here);
    assert_int_equal(hud_mapped_write(self, number(there) + 1, here, 2 * PAGE), 2 * PAGE);
    assert_int_equal(there[0], 1);
    assert_int_equal(there[1], 3);
    assert_int_equal(there[2 * PAGE], 3);
    assert_int_equal(there[2 * PAGE + 1], (char)((2 * PAGE + 1) * 7 + 1));
    assert_int_equal(hud_mapped_read(self, number(there), here, 0), 0);
    end();
}

static void bytes_are_read_and_written(void **state)
{
    (void)state;
    move_both_ways(true);
    move_both_ways(false);
}

static void nothing_stays_attached_in_copy_mode(void **state)
{
    char there[100] = "there", here[100];

    (void)state;
    begin(false);
    for (int i = 0; i < 10; i++)
        assert_int_equal(hud_mapped_read(self, number(there), here, sizeof here), sizeof here);
    assert_int_equal(attached(), 0);
    end();
}

/* Verifies that a reused buffer and its neighbors are not attached again. A peer has a bounded
 * number of ranges, and the ranges used last are kept. */
static void recently_used_ranges_stay_attached(void **state)
{
    enum { BUFFERS = MAPPED_KEPT + 4 };
    char *area = mmap(NULL, (BUFFERS + 1) * (size_t)UNIT, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0),
         here[100], *there = (char *)((number(area) + UNIT - 1) / UNIT * UNIT);

    (void)state;
    begin(true);
    assert_true(area != MAP_FAILED);
    int had = fake("fake_xpmem_attached");
    for (int i = 0; i < 100; i++) {
        there[i * 100] = (char)i;
        assert_int_equal(hud_mapped_read(self, number(there + i * 100), here, 100), 100);
        assert_int_equal(here[0], i);
    }
    assert_int_equal(fake("fake_xpmem_attached"), had + 1);
    for (int i = 0; i < BUFFERS; i++) {
        assert_int_equal(hud_mapped_write(self, number(there + (size_t)i * UNIT), "x", 1), 1);
        assert_int_equal(hud_mapped_read(self, number(there), here, 1), 1); /* the first range is
                                                                             * kept */
    }
    assert_int_equal(fake("fake_xpmem_attached"), had + BUFFERS);
    assert_int_equal(attached(), MAPPED_KEPT);
    /* across two units: another range */
    assert_int_equal(hud_mapped_read(self, number(there) + UNIT - 50, here, 100), 100);
    assert_int_equal(fake("fake_xpmem_attached"), had + BUFFERS + 1);
    munmap(area, (BUFFERS + 1) * (size_t)UNIT);
    end();
}

static void failed_attachments_copy_nothing(void **state)
{
    char there[100] = "", here[100];

    (void)state;
    begin(true);
    setenv("FAKE_XPMEM_FAILS", "attach", 1);
    assert_int_equal(hud_mapped_read(self, number(there), here, sizeof here), 0);
    assert_int_equal(hud_mapped_write(self, number(there), here, sizeof here), 0);
    setenv("FAKE_XPMEM_FAILS", "get", 1);
    assert_null(hud_mapped_open(offer, true));
    unsetenv("FAKE_XPMEM_FAILS");
    assert_null(hud_mapped_open(offer + 1, true));
    assert_int_equal(hud_mapped_read(self, number(there), here, sizeof here), sizeof here);
    end();
}

static void offers_are_counted(void **state)
{
    (void)state;
    begin(true);
    assert_true(hud_direct_may_map());
    assert_int_equal(hud_mapped_offer(), offer);
    hud_mapped_withdraw();
    assert_int_equal(fake("fake_xpmem_made"), 1);
    end();
}

/* ---- another process ---- */

static int pipes[2][2];

/* Starts a child with both kinds of memory, which ends on request. */
static pid_t neighbour(char *shared)
{
    char byte;

    assert_int_equal(pipe(pipes[0]), 0);
    assert_int_equal(pipe(pipes[1]), 0);
    pid_t child = fork();
    if (child == 0) {
        alarm(30);
        memcpy(shared, "shared", 7);
        int64_t id = hud_mapped_offer();
        if (write(pipes[0][1], &id, sizeof id) != sizeof id || read(pipes[1][0], &byte, 1) != 1)
            _exit(1);
        _exit(memcmp(shared + PAGE, "written", 8) == 0 ? 0 : 2);
    }
    assert_true(child > 0);
    return child;
}

static void missing_memory_causes_no_signal(void **state)
{
    char *shared = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0),
         *both = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
         here[2 * PAGE];
    int64_t id = 0;
    int status;

    (void)state;
    begin(true);
    assert_true(shared != MAP_FAILED && both != MAP_FAILED);
    pid_t child = neighbour(shared);
    assert_int_equal(read(pipes[0][0], &id, sizeof id), sizeof id);
    struct mem_mapped *other = hud_mapped_open(id, true);
    assert_non_null(other);
    for (int i = 0; i < 3; i++) { /* private memory, and no memory: missing in this fake */
        assert_int_equal(hud_mapped_read(other, number(both), here, PAGE), 0);
        assert_int_equal(hud_mapped_write(other, number(both) + PAGE, here, 1), 0);
        assert_int_equal(hud_mapped_read(other, 8 * UNIT, here, PAGE), 0);
    }
    size_t got = hud_mapped_read(other, number(shared), here, PAGE);
    if (geteuid() == 0)
        assert_int_equal(got, PAGE);
    if (got == PAGE) {
        assert_string_equal(here, "shared");
        assert_int_equal(hud_mapped_write(other, number(shared) + PAGE, "written", 8), 8);
    } else {
        memcpy(shared + PAGE, "written", 8);
        print_message("only root can map another process's files\n");
    }
    assert_int_equal(write(pipes[1][1], "", 1), 1);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    hud_mapped_close(other);
    munmap(shared, 2 * PAGE);
    munmap(both, 4 * PAGE);
    for (int i = 0; i < 4; i++)
        close(pipes[i / 2][i % 2]);
    end();
}

static sigjmp_buf away;

static void leave(int signal_number)
{
    siglongjmp(away, signal_number);
}

/* Verifies that other signals reach the program's earlier handler, or end the program. */
static void other_signals_reach_the_earlier_handler(void **state)
{
    int empty = memfd_create("empty", MFD_CLOEXEC), status;
    char *nothing = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, empty, 0);
    struct sigaction own = { .sa_handler = leave }, usual = { .sa_handler = SIG_DFL }, cmocka;

    (void)state;
    sigaction(SIGBUS, &usual, &cmocka);
    begin(true);
    pid_t child = fork();
    if (child == 0)
        _exit(*nothing);
    waitpid(child, &status, 0);
    bool died = WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS;
    end();
    sigaction(SIGBUS, &own, NULL);
    begin(true);
    bool came = sigsetjmp(away, 1) != 0;
    if (!came)
        printf("%d\n", *nothing);
    end();
    sigaction(SIGBUS, &cmocka, NULL);
    assert_true(died);
    assert_true(came);
    munmap(nothing, PAGE);
    close(empty);
}

static struct sigaction replaced;
static int calls;

/* Calls the replaced handler, like a program's own handler. */
static void pass_on(int signal_number, siginfo_t *info, void *context)
{
    if (++calls > 3)
        leave(signal_number);
    replaced.sa_sigaction(signal_number, info, context);
}

/* Installs the program's handler while a peer is open, which calls huddle's handler. Then opens a
 * peer again. */
static void handlers_do_not_call_each_other_forever(void **state)
{
    struct sigaction own = { .sa_handler = leave }, cmocka,
                     front = { .sa_sigaction = pass_on, .sa_flags = SA_SIGINFO };

    (void)state;
    sigaction(SIGBUS, &own, &cmocka);
    begin(true);
    sigaction(SIGBUS, &front, &replaced);
    hud_mapped_close(self);
    self = hud_mapped_open(offer, true);
    assert_non_null(self);
    calls = 0;
    if (sigsetjmp(away, 1) == 0)
        raise(SIGBUS);
    sigaction(SIGBUS, &replaced, NULL);
    end();
    sigaction(SIGBUS, &cmocka, NULL);
    assert_int_equal(calls, 1);
}

static void no_offer_without_a_library(void **state)
{
    (void)state;
    setenv("FAKE_XPMEM_FAILS", "make", 1);
    assert_int_equal(hud_mapped_offer(), 0);
    assert_false(hud_direct_may_map());
    hud_mapped_withdraw();
    unsetenv("FAKE_XPMEM_FAILS");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_offer_without_a_library),
        cmocka_unit_test(bytes_are_read_and_written),
        cmocka_unit_test(nothing_stays_attached_in_copy_mode),
        cmocka_unit_test(recently_used_ranges_stay_attached),
        cmocka_unit_test(failed_attachments_copy_nothing),
        cmocka_unit_test(offers_are_counted),
        cmocka_unit_test(missing_memory_causes_no_signal),
        cmocka_unit_test(other_signals_reach_the_earlier_handler),
        cmocka_unit_test(handlers_do_not_call_each_other_forever),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
