/* SPDX-License-Identifier: BSD-3-Clause */
/* test_huge.c - arenas of huge pages: from the system's pool, to which root adds a few here, and
 * pages that the kernel makes of ordinary pages. */
#define _GNU_SOURCE
#include "core/arena/arena.h"
#include "core/arena/peers.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

enum { ARENA = 5 << 20, WHOLE = 4 << 20, MANY = 64, MORE = 3 };

#define POOL "/sys/kernel/mm/hugepages/hugepages-2048kB/"

static struct arena arena;
static const char *why;
static int lock = -1;

static long number_in(const char *name)
{
    char path[128];
    long n = -1;

    snprintf(path, sizeof path, POOL "%s", name);
    FILE *f = fopen(path, "r");
    if (f && fscanf(f, "%ld", &n) != 1)
        n = -1;
    if (f)
        fclose(f);
    return n;
}

/* Grows the pool by some pages. Returns false if this is not allowed, or if there are no such
 * pages. */
static bool grow(long pages)
{
    long had = number_in("nr_hugepages");
    FILE *f = had >= 0 ? fopen(POOL "nr_hugepages", "w") : NULL;

    if (!f)
        return false;
    fprintf(f, "%ld\n", had + pages);
    return fclose(f) == 0 && number_in("nr_hugepages") == had + pages;
}

/* Takes the lock that all tests of the pool use, and grows the pool. The tests restore the pool's
 * size. */
static bool take_pool(void)
{
    lock = open("/tmp/huddle-test-pool", O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (lock >= 0 && flock(lock, LOCK_EX) == 0 && grow(MORE))
        return true;
    print_message("the pool of huge pages cannot be filled here\n");
    return false;
}

static int give_back(void **state)
{
    (void)state;
    hud_arena_destroy(&arena);
    if (lock >= 0) {
        grow(-MORE);
        close(lock);
    }
    lock = -1;
    return 0;
}

static int nothing(void **state)
{
    (void)state;
    arena = (struct arena){ .file.fd = -1 };
    return 0;
}

/* Uses every byte of the arena, like its rank and like another rank. */
static void use_all(void)
{
    size_t bytes = hud_arena_free_bytes(&arena), a = hud_arena_reserve(&arena, bytes, 1, &why);
    char *mine = (char *)arena.head + a;

    assert_true(a != 0);
    for (size_t i = 0; i < bytes; i += 4096)
        assert_int_equal(mine[i], 0);
    memset(mine, 7, bytes);
    struct arena_head *there =
        hud_peers_map_file(dup(arena.file.fd), arena.head->nonce, arena.bytes);
    assert_non_null(there);
    for (size_t i = 0; i < bytes; i += 4096)
        assert_int_equal(((char *)there + a)[i], 7);
    munmap(there, arena.bytes);
    hud_arena_cancel(&arena, a, bytes);
    assert_int_equal(hud_arena_reserve(&arena, bytes, 1, &why), a);
    assert_int_equal(mine[bytes - 1], 0);
    hud_arena_cancel(&arena, a, bytes);
}

static void arena_gets_its_pages_from_the_pool(void **state)
{
    (void)state;
    if (!take_pool())
        skip();
    long free_pages = number_in("free_hugepages");
    assert_int_equal(hud_arena_create(&arena, ARENA, 1, &why), 0);
    assert_int_equal(arena.pages, PAGES_POOL);
    assert_int_equal(arena.bytes, WHOLE);
    assert_int_equal(number_in("free_hugepages"), free_pages - WHOLE / (long)FILE_HUGE);
    use_all();
    hud_arena_destroy(&arena);
    assert_int_equal(number_in("free_hugepages"), free_pages);
}

/* Makes the pool too small for all ranks. All must see this alike. */
static void too_small_pool_is_not_used(void **state)
{
    (void)state;
    if (!take_pool())
        skip();
    long free_pages = number_in("free_hugepages");
    int ranks = (int)number_in("nr_hugepages"); /* a page per rank, although an arena needs two */
    assert_int_equal(hud_arena_create(&arena, ARENA, ranks, &why), 0);
    assert_int_not_equal(arena.pages, PAGES_POOL);
    assert_int_equal(arena.bytes, ARENA);
    assert_int_equal(number_in("free_hugepages"), free_pages);
    use_all();
}

/* Lets another program use the pool. The arena must get ordinary pages, without a signal. */
static void pool_in_use_causes_no_signal(void **state)
{
    (void)state;
    if (!take_pool())
        skip();
    size_t held = (size_t)number_in("free_hugepages") * FILE_HUGE - FILE_HUGE;
    char *others = mmap(NULL, held, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | MAP_POPULATE | 21 << 26, -1, 0);
    assert_true(others != MAP_FAILED);
    assert_int_equal(number_in("free_hugepages"), 1);
    assert_int_equal(hud_arena_create(&arena, ARENA, 1, &why), 0);
    assert_int_not_equal(arena.pages, PAGES_POOL);
    assert_int_equal(number_in("free_hugepages"), 1); /* pages taken in vain are returned */
    use_all();
    munmap(others, held);
}

/* Expects huge pages for a first slice. Memory that is committed later has ordinary pages. */
static void first_slice_gets_transparent_huge_pages(void **state)
{
    (void)state;
    assert_int_equal(hud_arena_create(&arena, ARENA, MANY, &why), 0);
    if (arena.pages != PAGES_TRANSPARENT) {
        print_message("the kernel makes no huge pages of ordinary ones (Linux 6.1), or the pool "
                      "is large\n");
        assert_int_equal(hud_file_joined_bytes(arena.head, arena.bytes), 0);
        skip();
    }
    assert_int_equal(arena.committed_bytes, FILE_HUGE);
    assert_int_equal(hud_file_joined_bytes(arena.head, arena.bytes), FILE_HUGE);
    hud_arena_warm(&arena, FILE_HUGE / 2, 1); /* exists already */
    assert_int_equal(arena.committed_bytes, FILE_HUGE);
    hud_arena_warm(&arena, FILE_HUGE, 1); /* begins after the head */
    assert_int_equal(arena.committed_bytes, WHOLE);
    size_t joined = hud_file_joined_bytes(arena.head, arena.bytes);
    assert_true(joined >= FILE_HUGE && joined <= WHOLE);
    use_all();
    assert_int_equal(arena.committed_bytes, ARENA);
    assert_int_equal(hud_file_joined_bytes(arena.head, arena.bytes), joined);
}

static void small_arenas_have_ordinary_pages(void **state)
{
    (void)state;
    assert_int_equal(hud_arena_create(&arena, FILE_HUGE - 4096, 1, &why), 0);
    assert_int_equal(arena.pages, PAGES_ORDINARY);
    use_all();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(arena_gets_its_pages_from_the_pool, nothing, give_back),
        cmocka_unit_test_setup_teardown(too_small_pool_is_not_used, nothing, give_back),
        cmocka_unit_test_setup_teardown(pool_in_use_causes_no_signal, nothing, give_back),
        cmocka_unit_test_setup_teardown(first_slice_gets_transparent_huge_pages, nothing,
                                        give_back),
        cmocka_unit_test_setup_teardown(small_arenas_have_ordinary_pages, nothing, give_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
