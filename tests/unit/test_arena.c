/* SPDX-License-Identifier: BSD-3-Clause */
/* test_arena.c - the ledger of an arena: reserving and releasing slices. */
#include "core/arena/arena.h"
#include "core/arena/budget.h"
#include "core/arena/file.h"
#include "core/slice/team_leave.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { MB = 1 << 20 };

static struct arena arena;
static const char *why;

static int make(void **state)
{
    (void)state;
    return hud_arena_create(&arena, 1 * MB, 0, &why);
}

static int end(void **state)
{
    (void)state;
    hud_arena_destroy(&arena);
    return 0;
}

/* Returns a mem of a team whose only member has this slice. */
static struct mem alone(char **slice)
{
    static const struct mem_policy policy;

    return (struct mem){ .rank = 0,
                         .size = 1,
                         .slices = slice,
                         .home_mask = ~(hud_arena_alignment(arena.bytes) - 1),
                         .policy = &policy };
}

static void slices_do_not_overlap_and_are_zero(void **state)
{
    size_t a = hud_arena_reserve(&arena, 100000, 1, &why),
           b = hud_arena_reserve(&arena, 5000, 1, &why);

    (void)state;
    assert_true(a != 0 && b >= a + 100000);
    for (size_t i = 0; i < 100000; i++)
        assert_int_equal(((char *)arena.head + a)[i], 0);
    memset((char *)arena.head + a, 7, 100000);
    hud_arena_cancel(&arena, a, 100000);
    assert_int_equal(hud_arena_reserve(&arena, 90000, 1, &why), a);
    assert_int_equal(((char *)arena.head + a)[50000], 0);
    hud_arena_cancel(&arena, a, 0);
    hud_arena_cancel(&arena, b, 0);
    assert_int_equal(mem_count_read(&arena.head->stats.leased_bytes), 0);
}

/* Verifies that a release leaves unused bytes alone, which may have no pages yet. */
static void release_zeroes_used_bytes_only(void **state)
{
    size_t a = hud_arena_reserve(&arena, 65536, 1, &why);
    char *slice = (char *)arena.head + a;

    (void)state;
    slice[1000] = slice[60000] = 7;
    hud_arena_cancel(&arena, a, 1001);
    assert_int_equal(slice[1000], 0);
    assert_int_equal(slice[60000], 7);
    slice[60000] = 0;
}

/* Checks sizes for which a rank may get whole huge pages and another rank ordinary pages. Both must
 * have the same alignment. */
static void huge_pages_keep_the_alignment(void **state)
{
    (void)state;
    for (size_t bytes = MB; bytes <= 160 * MB; bytes += MB / 4) {
        size_t alignment = hud_arena_alignment(bytes), shorter = bytes / FILE_HUGE * FILE_HUGE;
        assert_true(alignment >= bytes);
        assert_int_equal(alignment & (alignment - 1), 0);
        assert_int_equal(alignment, hud_arena_alignment(shorter));
    }
}

static void full_arena_rejects_a_slice(void **state)
{
    size_t whole = hud_arena_free_bytes(&arena), a = hud_arena_reserve(&arena, whole, 1, &why);

    (void)state;
    assert_true(a != 0);
    assert_int_equal(hud_arena_reserve(&arena, 1, 1, &why), 0);
    assert_string_equal(why, "the arena is full");
    assert_int_equal(hud_arena_free_bytes(&arena), 0);
    hud_arena_cancel(&arena, a, 0);
    assert_int_equal(hud_arena_free_bytes(&arena), whole);
}

/* Verifies that a slice placed on another node gets new pages, and the ledger does not change. */
static void slice_placed_on_a_node_has_new_pages(void **state)
{
    enum { PAGES = 16 };
    int nodes[PAGES];
    size_t bytes = PAGES * arena.page_bytes, whole = hud_arena_free_bytes(&arena),
           a = hud_arena_reserve(&arena, bytes, 1, &why);

    (void)state;
    memset((char *)arena.head + a, 7, bytes);
    hud_arena_cancel(&arena, a, bytes);
    size_t committed = arena.committed_bytes;
    uint64_t placed = mem_count_read(&arena.head->stats.pages_home);
    hud_arena_aim(&arena, 0);
    assert_int_equal(hud_arena_reserve(&arena, bytes, 1, &why), a);
    assert_int_equal(arena.committed_bytes, committed);
    for (size_t i = 0; i < bytes; i++) /* the kernel knows the node of a page that was read */
        assert_int_equal(((char *)arena.head + a)[i], 0);
    bool known = hud_arena_pages(&arena, a, bytes, nodes) == 0;
    if (arena.node == 0 && known)
        assert_int_equal(mem_count_read(&arena.head->stats.pages_home),
                         placed + PAGES); /* counted again, because they are new */
    for (int i = 0; known && i < PAGES; i++)
        assert_true(nodes[i] >= 0);
    hud_arena_cancel(&arena, a, 0);
    assert_int_equal(hud_arena_free_bytes(&arena), whole);
}

/* Verifies that a slice of three members is free after the third has left, and not before. Free
 * neighbors are joined. */
static void slice_is_free_after_all_members_have_left(void **state)
{
    size_t whole = hud_arena_free_bytes(&arena), a = hud_arena_reserve(&arena, whole / 2, 1, &why);
    char *slice = (char *)arena.head + a;
    struct mem m = alone(&slice);

    (void)state;
    hud_arena_leave(&arena, a, whole / 2, 3);
    for (int left = 0; left < 3; left++) {
        assert_true(hud_arena_free_bytes(&arena) < whole);
        hud_shm_team_leave(&m, whole / 2);
    }
    assert_int_equal(hud_arena_free_bytes(&arena), whole);
}

/* Leaves a slice of three members.  Returns the byte `at` after all have left: only used_bytes are
 * zeroed if the other members have used as many. */
static int left_byte(size_t at, size_t used_bytes, size_t used_by_second, size_t used_by_third)
{
    size_t a = hud_arena_reserve(&arena, 65536, 1, &why);
    char *slice = (char *)arena.head + a;
    struct mem m = alone(&slice);

    slice[at] = 7;
    hud_arena_leave(&arena, a, used_bytes, 3);
    hud_shm_team_leave(&m, used_bytes);
    hud_shm_team_leave(&m, used_by_second);
    hud_shm_team_leave(&m, used_by_third);
    hud_arena_free_bytes(&arena);
    int left = slice[at];
    slice[at] = 0;
    return left;
}

static void used_bytes_are_zeroed(void **state)
{
    (void)state;
    assert_int_equal(left_byte(1000, 1001, 1001, 1001), 0);
    assert_int_equal(left_byte(60000, 1001, 1001, 1001), 7);
    assert_int_equal(left_byte(1010, 1001, 1011, 1001), 0); /* rest of the last line */
    assert_int_equal(left_byte(60000, 1001, 60001, 1001), 0);
    assert_int_equal(left_byte(60000, 1001, 1001, 1001 + HUD_LINE), 0);
    assert_int_equal(left_byte(65535, 65536, 65536, 65536), 0);
    assert_int_equal(left_byte(65535, 1 << 30, 1 << 30, 1 << 30), 0);
}

/* Verifies that members who have used more and less than the owner do not cancel out. */
static void unequal_use_is_noticed(void **state)
{
    (void)state;
    for (size_t lines = 2; lines < 300; lines++)
        for (size_t more = 1; more < lines; more += more)
            assert_int_equal(left_byte(65535, lines * HUD_LINE, (lines + more) * HUD_LINE,
                                       (lines - more) * HUD_LINE),
                             0);
}

static void ten_thousand_cycles_do_not_grow(void **state)
{
    size_t whole;

    end(state);
    assert_int_equal(make(state), 0);
    whole = hud_arena_free_bytes(&arena);
    for (int i = 0; i < 10000; i++) {
        size_t a = hud_arena_reserve(&arena, 4096u * (1u + (unsigned)i % 40), 1, &why);
        char *slice = (char *)arena.head + a;
        struct mem m = alone(&slice);
        assert_true(a != 0);
        hud_arena_leave(&arena, a, sizeof(struct slice_head), 1);
        hud_shm_team_leave(&m, sizeof(struct slice_head));
    }
    assert_int_equal(hud_arena_free_bytes(&arena), whole);
    assert_true(arena.committed_bytes <= MB / 2);
}

static void home_of_a_flag_is_its_arena(void **state)
{
    size_t a = hud_arena_reserve(&arena, 4096, 1, &why);
    uintptr_t flag = (uintptr_t)arena.head + a + 640;

    (void)state;
    assert_ptr_equal((void *)(flag & ~(hud_arena_alignment(arena.bytes) - 1)), arena.head);
    hud_arena_cancel(&arena, a, 0);
}

/* Simulates a program that closes huddle's descriptor and opens a file with the same number. The
 * file must not be changed. */
static void file_with_a_stolen_descriptor_is_not_changed(void **state)
{
    struct arena a;
    char name[] = "/tmp/huddle-test-XXXXXX";
    int file = mkstemp(name);

    (void)state;
    assert_int_equal(hud_arena_create(&a, 1 * MB, 0, &why), 0);
    assert_int_equal(dup2(file, a.file.fd), a.file.fd);
    assert_int_equal(hud_arena_reserve(&a, 65536, 1, &why), 0);
    assert_int_equal(lseek(file, 0, SEEK_END), 0);
    hud_arena_destroy(&a);
    close(file);
    unlink(name);
}

/* Verifies that RLIMIT_FSIZE is checked first, because a file growing beyond this limit raises
 * SIGXFSZ. */
static void file_size_limit_raises_no_signal(void **state)
{
    int status;

    (void)state;
    pid_t child = fork();
    if (child == 0) {
        struct rlimit max = { 65536, 65536 };
        struct arena a;
        setrlimit(RLIMIT_FSIZE, &max);
        _exit(hud_arena_create(&a, 1 * MB, 0, &why) == -1 ? 0 : 1);
    }
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
}

/* Verifies that most of the space below RLIMIT_AS remains for the MPI and the program. */
static void address_space_is_left_to_others(void **state)
{
    int status;

    (void)state;
    pid_t child = fork();
    if (child == 0) {
        FILE *file = fopen("/proc/self/statm", "r");
        struct rlimit max = { RLIM_INFINITY, RLIM_INFINITY };
        long pages;
        if (!file || fscanf(file, "%ld", &pages) != 1)
            _exit(0); /* no limit is known without the file */
        bool before = hud_budget_has_space(10 * MB, 1000);
        max.rlim_cur = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + 300 * MB;
        setrlimit(RLIMIT_AS, &max);
        _exit(before && hud_budget_has_space(10 * MB, 2) && !hud_budget_has_space(10 * MB, 10) ? 0
                                                                                               : 1);
    }
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slices_do_not_overlap_and_are_zero),
        cmocka_unit_test(release_zeroes_used_bytes_only),
        cmocka_unit_test(huge_pages_keep_the_alignment),
        cmocka_unit_test(full_arena_rejects_a_slice),
        cmocka_unit_test(slice_is_free_after_all_members_have_left),
        cmocka_unit_test(used_bytes_are_zeroed),
        cmocka_unit_test(unequal_use_is_noticed),
        cmocka_unit_test(ten_thousand_cycles_do_not_grow),
        cmocka_unit_test(home_of_a_flag_is_its_arena),
        cmocka_unit_test(file_with_a_stolen_descriptor_is_not_changed),
        cmocka_unit_test(file_size_limit_raises_no_signal),
        cmocka_unit_test(slice_placed_on_a_node_has_new_pages),
        cmocka_unit_test(address_space_is_left_to_others),
    };

    return cmocka_run_group_tests(tests, make, end);
}
