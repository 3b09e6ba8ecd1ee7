/* SPDX-License-Identifier: BSD-3-Clause */
/* test_direct.c - the kernel's copies access a member's process, and no other process with its
 * pid. */
#define _GNU_SOURCE
#include "mem/mem.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { RANKS = 2, ARENA = 1 << 16, BYTES = 3000, REACH = 2 * HUD_LINE };

static char *arenas;       /* arenas of both ranks, shared, at multiples of ARENA */
static char buffer[BYTES]; /* memory of each process */
static struct mem_peer peers[RANKS];
static struct mem_team team = { .peers = peers, .reach = REACH };
static char *slices[RANKS];
static struct mem m = {
    .rank = 0, .size = RANKS, .slices = slices, .home_mask = ~(uintptr_t)(ARENA - 1), .team = &team
};

static struct mem_reach *reach(int rank)
{
    return (struct mem_reach *)(void *)(slices[rank] + REACH);
}

/* Replaces the arenas by other memory with the same contents, as after a restart from a
 * checkpoint. */
static void replace_arenas(void)
{
    char *kept = malloc(RANKS * ARENA);

    if (!kept)
        _exit(2);
    memcpy(kept, arenas, RANKS * ARENA);
    if (mmap(arenas, RANKS * ARENA, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
             -1, 0) == MAP_FAILED)
        _exit(2);
    memcpy(arenas, kept, RANKS * ARENA);
}

static void drop_arenas(void)
{
    munmap(arenas, RANKS * ARENA);
}

/* Writes other numbers to the place where this process proves its identity. */
static void disturb(void)
{
    for (uint64_t i = 1;; i++) {
        atomic_store_explicit(&reach(1)->proof, i, memory_order_seq_cst);
        for (int pause = 0; pause < 2000; pause++)
            mem_pause();
    }
}

/* Starts a process whose buffer is filled with a letter. Returns its pid when the process is
 * ready. */
static int start(char letter, void (*prepare)(void))
{
    int ready[2];
    char byte;

    assert_int_equal(pipe(ready), 0);
    int pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        memset(buffer, letter, sizeof buffer);
        if (prepare && prepare != disturb)
            prepare();
        if (write(ready[1], "", 1) != 1)
            _exit(2);
        if (prepare == disturb)
            disturb();
        for (;;)
            pause();
    }
    assert_true(pid > 0);
    close(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    return pid;
}

static void end(int pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

static void set_peer(int pid)
{
    peers[1] = (struct mem_peer){ .pid = pid, .arena = (uint64_t)(uintptr_t)slices[1] };
}

static size_t pull(char *to)
{
    return hud_mem_pull(&m, 1, (uint64_t)(uintptr_t)buffer, to, BYTES);
}

static size_t push(const char *from)
{
    return hud_mem_push(&m, 1, (uint64_t)(uintptr_t)buffer, from, BYTES);
}

/* Returns the letter in a process's whole buffer. */
static char letter_of(int pid)
{
    char there[BYTES];

    assert_int_equal(hud_mem_read(pid, (uint64_t)(uintptr_t)buffer, there, BYTES), BYTES);
    for (int i = 1; i < BYTES; i++)
        assert_int_equal(there[i], there[0]);
    return there[0];
}

static void member_process_is_read_and_written(void **state)
{
    char got[BYTES], given[BYTES];
    int pid = start('a', NULL);

    (void)state;
    memset(given, 'b', sizeof given);
    set_peer(pid);
    assert_int_equal(pull(got), BYTES);
    assert_int_equal(got[BYTES - 1], 'a');
    assert_int_equal(push(given), BYTES);
    assert_int_equal(letter_of(pid), 'b');
    end(pid);
}

/* Expects that the process's buffer is neither read nor written. */
static void refused(int pid)
{
    char got[BYTES] = "", given[BYTES];

    memset(given, 'b', sizeof given);
    assert_int_equal(pull(got), 0);
    assert_int_equal(got[0], '\0');
    assert_int_equal(push(given), 0);
    assert_int_equal(letter_of(pid), 'c');
}

static void other_processes_with_its_pid_are_rejected(void **state)
{
    int same = start('c', replace_arenas), none = start('c', drop_arenas);

    (void)state;
    set_peer(same);
    refused(same);
    set_peer(none);
    refused(none);
    end(same);
    end(none);
    set_peer(same); /* no process has this pid */
    assert_int_equal(push(buffer), 0);
}

/* Verifies that a proof expires. */
static void process_with_a_reused_pid_is_rejected(void **state)
{
    const struct timespec proven = { .tv_nsec = 2000000 };
    int right = start('a', NULL), wrong = start('c', replace_arenas);
    char got[BYTES];

    (void)state;
    set_peer(right);
    assert_int_equal(pull(got), BYTES);
    peers[1].pid = wrong;
    nanosleep(&proven, NULL);
    refused(wrong);
    peers[1].pid = right;
    assert_int_equal(pull(got), BYTES);
    peers[1].pid = wrong;
    peers[1].proven_ns += INT64_C(3600000000000); /* the clock is behind the proof, as on another
                                                   * machine */
    refused(wrong);
    end(right);
    end(wrong);
}

static void members_prove_concurrently(void **state)
{
    int pid = start('a', disturb);
    char got[BYTES];

    (void)state;
    set_peer(pid);
    for (int i = 0; i < 2000; i++) {
        peers[1].proven_ns = 0;
        assert_int_equal(pull(got), BYTES);
    }
    end(pid);
}

static int map_arenas(void **state)
{
    char own = 'x', got = 0;
    char *space =
        mmap(NULL, (RANKS + 1) * ARENA, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    (void)state;
    if (space == MAP_FAILED)
        return -1;
    arenas = (char *)(((uintptr_t)space + ARENA - 1) & ~(uintptr_t)(ARENA - 1));
    for (int r = 0; r < RANKS; r++)
        slices[r] = arenas + r * ARENA;
    if (hud_mem_read((int)getpid(), (uint64_t)(uintptr_t)&own, &got, 1) == 1)
        return 0;
    puts("SKIP the kernel does not allow copies between processes here");
    exit(77);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(member_process_is_read_and_written),
        cmocka_unit_test(other_processes_with_its_pid_are_rejected),
        cmocka_unit_test(process_with_a_reused_pid_is_rejected),
        cmocka_unit_test(members_prove_concurrently),
    };

    return cmocka_run_group_tests(tests, map_arenas, NULL);
}
