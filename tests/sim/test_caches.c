/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_caches.c - where bytes are after reads and writes, computed by hand.  Four cores in two
 * units; a core has 64 KB of its own, a unit 1 MB; the memory of unit u is node u.
 */
#include "sim/caches.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { K = 1024, M = 1024 * K, CORES = 4, NODES = 2, RING = 16 * M, BUF = 64 * M };

static const int unit[CORES] = { 0, 0, 1, 1 };

static int apart(const void *where, int a, int b)
{
    (void)where;
    return a == b ? 0 : unit[a] == unit[b] ? 1 : 2;
}

static double home[NODES];
static struct caches_given_up given_up;

static int set_up_with(void **state, size_t nearest_bytes, bool victim, enum caches_dirty dirty)
{
    const struct caches_shape shape = { .cores = CORES,
                                        .units = 2,
                                        .unit = unit,
                                        .nearest_bytes = nearest_bytes,
                                        .private_bytes = 64 * K,
                                        .shared_bytes = 1 * M,
                                        .victim = victim,
                                        .dirty = dirty,
                                        .apart = apart };
    struct sim_caches *c = hud_caches_create(&shape);

    memset(home, 0, sizeof home);
    given_up = (struct caches_given_up){ 0, home };
    hud_caches_home(c, RING, 8 * M, 1);
    *state = c;
    return 0;
}

static int set_up(void **state)
{
    return set_up_with(state, 0, false, CACHES_HAND_ON);
}

static int set_up_nearest(void **state)
{
    return set_up_with(state, 4 * K, false, CACHES_HAND_ON);
}

static int set_up_victim(void **state)
{
    return set_up_with(state, 0, true, CACHES_KEEP);
}

static int set_up_keep(void **state)
{
    return set_up_with(state, 0, false, CACHES_KEEP);
}

static int set_up_write_back(void **state)
{
    return set_up_with(state, 0, false, CACHES_WRITE_BACK);
}

static int tear_down(void **state)
{
    hud_caches_free(*state);
    return 0;
}

static void reads(struct sim_caches *c, int core, uintptr_t first, size_t bytes)
{
    hud_caches_read(c, core, first, bytes, &given_up);
}

static void writes(struct sim_caches *c, int core, uintptr_t first, size_t bytes)
{
    hud_caches_write(c, core, first, bytes, &given_up);
}

/* The core finds the first `bytes` of [first, first + 64 MB) there and no more. */
static void expect(struct sim_caches *c, int core, uintptr_t first, size_t bytes, bool write,
                   enum caches_kind kind, int of)
{
    struct caches_place place;
    size_t found = hud_caches_find(c, core, first, 64 * M, write, &place);

    assert_int_equal(place.kind, kind);
    assert_int_equal(place.of, of);
    if (bytes != 0)
        assert_int_equal(found, bytes);
}

enum { READ = 0, WRITE = 1 };

static void nothing_is_anywhere_but_at_home(void **state)
{
    struct sim_caches *c = *state;

    expect(c, 0, RING + 8 * M - 100, 100, READ, CACHES_NODE, 1);
    expect(c, 0, RING + 8 * M, 64 * M, READ, CACHES_NODE, 0);
    expect(c, 3, RING - 5, 5, WRITE, CACHES_NODE, 0);
}

/* Core 0 copies 8 KB from its buffer to a ring; 1, then 2 copy them out, 3 after 2; then 0 comes
 * round. */
static void who_holds_what_after_copies(void **state)
{
    struct sim_caches *c = *state;

    reads(c, 0, BUF, 8 * K);
    writes(c, 0, RING, 8 * K);
    expect(c, 0, BUF, 8 * K, READ, CACHES_OWN, 0);
    expect(c, 1, BUF, 8 * K, READ, CACHES_UNIT, 0); /* it came through there */
    expect(c, 2, BUF, 0, READ, CACHES_NODE, 0);     /* memory is as new */
    expect(c, 0, RING, 8 * K, WRITE, CACHES_OWN, 0);
    expect(c, 1, RING, 8 * K, READ, CACHES_CORE, 0);
    expect(c, 2, RING, 8 * K, READ, CACHES_CORE, 0);
    reads(c, 1, RING, 8 * K);
    expect(c, 0, RING, 8 * K, READ, CACHES_OWN, 0);
    expect(c, 0, RING, 8 * K, WRITE, CACHES_CORE, 1); /* who must give it up */
    expect(c, 2, RING, 8 * K, READ, CACHES_UNIT, 0);  /* newer than memory there */
    reads(c, 2, RING, 4 * K);
    expect(c, 3, RING, 4 * K, READ, CACHES_UNIT, 1);
    expect(c, 3, RING + 4 * K, 4 * K, READ, CACHES_UNIT, 0);
    expect(c, 0, RING, 4 * K, WRITE, CACHES_CORE, 2); /* the farthest */
    expect(c, 0, RING + 4 * K, 4 * K, WRITE, CACHES_CORE, 1);
    writes(c, 0, RING, 8 * K);
    expect(c, 0, RING, 8 * K, WRITE, CACHES_OWN, 0);
    expect(c, 1, RING, 8 * K, READ, CACHES_CORE, 0);
    expect(c, 2, RING, 8 * K, READ, CACHES_CORE, 0);
    assert_int_equal(hud_caches_private_bytes(c, 1), 0);
    assert_int_equal(hud_caches_shared_bytes(c, 1), 0);
    assert_true(given_up.shared_bytes == 0 && home[0] == 0 && home[1] == 0);
}

/* A ring of 4 x 8 KB, used with fragments of a long message: a buffer is still in the cache when it
 * is reused, by any core. */
static void a_ring_stays_in_the_cache(void **state)
{
    struct sim_caches *c = *state;

    for (uintptr_t i = 0; i < 100; i++) {
        writes(c, 0, RING + i % 4 * 8 * K, 8 * K);
        expect(c, 1, RING + i % 4 * 8 * K, 0, READ, CACHES_CORE, 0);
        reads(c, 1, RING + i % 4 * 8 * K, 8 * K);
        expect(c, 0, RING + (i + 1) % 4 * 8 * K, 0, WRITE, i < 3 ? CACHES_NODE : CACHES_CORE, 1);
    }
    assert_int_equal(hud_caches_private_bytes(c, 0), 32 * K);
    assert_int_equal(hud_caches_private_bytes(c, 1), 32 * K);
    assert_true(given_up.shared_bytes == 0 && home[1] == 0);
}

/* 16 MB are written: 64 KB stay with the core, 1 MB with its unit, the rest has gone home: each
 * byte once. */
static void a_long_message_does_not(void **state)
{
    struct sim_caches *c = *state;

    for (int i = 0; i < 16 * M / (32 * K); i++)
        writes(c, 2, BUF + (uintptr_t)i * 32 * K, 32 * K);
    expect(c, 2, BUF, 15 * M - 64 * K, READ, CACHES_NODE, 0);
    expect(c, 2, BUF + 15 * M - 64 * K, 1 * M, READ, CACHES_UNIT, 1);
    expect(c, 2, BUF + 16 * M - 64 * K, 64 * K, READ, CACHES_OWN, 2);
    expect(c, 2, BUF + 16 * M - 64 * K, 64 * K, WRITE, CACHES_OWN, 2);
    assert_true(given_up.shared_bytes == 16 * M - 64 * K && home[0] == 15 * M - 64 * K &&
                home[1] == 0);
    for (int i = 0; i < 16 * M / (32 * K); i++)
        reads(c, 2, BUF + (uintptr_t)i * 32 * K,
              32 * K); /* each byte comes from memory, but for the last ones, which leave before
                          they are reached */
    assert_true(home[0] == 16 * M);
}

/* In one use more than a cache holds: its end stays. */
static void more_than_a_cache_at_once(void **state)
{
    struct sim_caches *c = *state;

    writes(c, 0, RING, 100 * K);
    expect(c, 0, RING, 36 * K, READ, CACHES_UNIT, 0);
    expect(c, 0, RING + 36 * K, 64 * K, READ, CACHES_OWN, 0);
    assert_int_equal(hud_caches_private_bytes(c, 0), 64 * K);
    assert_int_equal(hud_caches_shared_bytes(c, 0), 36 * K);
}

/* 48 KB and 16 KB fill the cache; the first half of the former is used again; 32 KB more push out
 * its other half, and 8 KB of the latter. */
static void the_least_recently_used_goes(void **state)
{
    struct sim_caches *c = *state;

    writes(c, 0, BUF, 48 * K);
    writes(c, 0, BUF + M, 16 * K);
    reads(c, 0, BUF, 24 * K);
    writes(c, 0, BUF + 2 * M, 32 * K);
    expect(c, 0, BUF, 24 * K, READ, CACHES_OWN, 0);
    expect(c, 0, BUF + 24 * K, 24 * K, READ, CACHES_UNIT, 0);
    expect(c, 0, BUF + M, 8 * K, READ, CACHES_UNIT, 0);
    expect(c, 0, BUF + M + 8 * K, 8 * K, READ, CACHES_OWN, 0);
    expect(c, 0, BUF + 2 * M, 32 * K, READ, CACHES_OWN, 0);
    assert_true(given_up.shared_bytes == 32 * K);
}

/* What was only read is not moved when it is given up. */
static void what_memory_has_is_dropped(void **state)
{
    struct sim_caches *c = *state;

    reads(c, 0, BUF, 4 * M);
    assert_true(given_up.shared_bytes == 0 && home[0] == 0);
    assert_int_equal(hud_caches_private_bytes(c, 0), 64 * K);
    assert_int_equal(hud_caches_shared_bytes(c, 0), 1 * M);
}

static void past_the_caches(void **state)
{
    struct sim_caches *c = *state;

    writes(c, 0, BUF, 8 * K);
    reads(c, 3, BUF, 8 * K);
    hud_caches_write_past(c, BUF + 2 * K, 4 * K);
    expect(c, 3, BUF, 2 * K, READ, CACHES_OWN, 3);
    expect(c, 3, BUF + 2 * K, 4 * K, READ, CACHES_NODE, 0);
    expect(c, 0, BUF + 6 * K, 2 * K, READ, CACHES_OWN, 0);
    assert_int_equal(hud_caches_private_bytes(c, 3), 4 * K);
    assert_int_equal(hud_caches_shared_bytes(c, 0), 4 * K);
}

/* Many uses, of pieces of all sizes: each cache holds what the directory says, and no more than it
 * can. */
static void caches_hold_what_they_can(void **state)
{
    struct sim_caches *c = *state;
    uint32_t seed = 5;

    for (int i = 0; i < 20000; i++) {
        int core = (int)((seed = seed * 1664525u + 1013904223u) >> 30);
        uintptr_t first = RING + ((seed = seed * 1664525u + 1013904223u) >> 10) % (3 * M);
        size_t bytes = 1 + ((seed = seed * 1664525u + 1013904223u) >> 12) % (48 * K), at = 0;
        struct caches_place place;
        (seed >> 9 & 3 ? reads : writes)(c, core, first, bytes);
        size_t own = hud_caches_find(c, core, first, bytes, READ, &place);
        assert_int_equal(place.kind, CACHES_OWN);
        assert_int_equal(own, bytes);
        for (int n = 0; i % 1000 == 0 && n < CORES; n++) {
            size_t held = 0;
            for (at = 0; at < 4 * M; at += own) {
                own = hud_caches_find(c, n, RING + at, 4 * M - at, READ, &place);
                held += place.kind == CACHES_OWN ? own : 0;
            }
            assert_int_equal(held, hud_caches_private_bytes(c, n));
            assert_true(held <= 64 * K && hud_caches_shared_bytes(c, n / 2) <= 1 * M);
        }
    }
}

/* 10 KB are written: the last 4 are in the nearest cache, for every core that reads or writes them.
 * Bytes that are read next evict them from it, and from no other cache. */
static void what_is_in_the_nearest_cache(void **state)
{
    struct sim_caches *c = *state;
    struct caches_place place;

    writes(c, 0, RING, 10 * K);
    assert_int_equal(hud_caches_find(c, 0, RING, M, WRITE, &place), 6 * K);
    assert_false(place.near);
    expect(c, 0, RING + 6 * K, 4 * K, WRITE, CACHES_OWN, 0);
    assert_int_equal(hud_caches_find(c, 1, RING + 6 * K, M, READ, &place), 4 * K);
    assert_true(place.near && place.kind == CACHES_CORE);
    reads(c, 1, RING + 6 * K, 3 * K);
    assert_int_equal(hud_caches_find(c, 0, RING + 6 * K, M, WRITE, &place),
                     3 * K); /* core 1 has them as near */
    assert_true(place.near && place.kind == CACHES_CORE && place.of == 1);
    reads(c, 0, BUF, 3 * K);
    assert_int_equal(hud_caches_find(c, 0, RING, M, READ, &place), 9 * K);
    assert_true(!place.near && place.kind == CACHES_OWN);
    assert_int_equal(hud_caches_nearest_bytes(c, 0), 4 * K);
    assert_int_equal(hud_caches_nearest_bytes(c, 1), 3 * K);
    assert_int_equal(hud_caches_private_bytes(c, 0), 13 * K);
    writes(c, 1, RING, 10 * K);
    assert_int_equal(hud_caches_nearest_bytes(c, 0), 3 * K);
    assert_int_equal(hud_caches_private_bytes(c, 0), 3 * K);
}

/* A shared cache of victims has nothing that a core has only read, until the core evicts it: clean
 * bytes, too.  96 KB are read: the first 32 KB are evicted. */
static void a_cache_of_victims(void **state)
{
    struct sim_caches *c = *state;

    reads(c, 0, BUF, 48 * K);
    expect(c, 1, BUF, 0, READ, CACHES_NODE, 0);
    assert_int_equal(hud_caches_shared_bytes(c, 0), 0);
    reads(c, 0, BUF + 48 * K, 48 * K);
    expect(c, 1, BUF, 32 * K, READ, CACHES_UNIT, 0);
    expect(c, 2, BUF, 0, READ, CACHES_NODE, 0); /* memory is as new */
    assert_int_equal(hud_caches_shared_bytes(c, 0), 32 * K);
    reads(c, 1, BUF, 8 * K); /* it stays there, too */
    assert_int_equal(hud_caches_shared_bytes(c, 0), 32 * K);
    assert_true(given_up.shared_bytes == 0 && home[0] == 0);
    writes(c, 3, RING, 8 * K); /* bytes that are newer than memory stay with the core that wrote */
    reads(c, 2, RING, 8 * K);
    assert_int_equal(hud_caches_shared_bytes(c, 1), 0);
    expect(c, 0, RING, 8 * K, READ, CACHES_CORE, 3);
}

/* Core 0 has written what 1 and 2 read: 3 finds it in the shared cache that 2 has filled, and a
 * core of the other unit that looks for 4 KB more, with core 0.  Evicted, it goes home once. */
static void the_owner_keeps_what_it_wrote(void **state)
{
    struct sim_caches *c = *state;

    writes(c, 0, RING, 8 * K);
    reads(c, 1, RING, 8 * K);
    expect(c, 2, RING, 8 * K, READ, CACHES_CORE, 0);
    reads(c, 2, RING, 4 * K);
    expect(c, 3, RING, 4 * K, READ, CACHES_UNIT, 1);
    expect(c, 3, RING + 4 * K, 4 * K, READ, CACHES_CORE, 0);
    assert_true(given_up.shared_bytes == 0 && home[1] == 0);
    writes(c, 0, BUF, 64 * K);
    expect(c, 2, RING, 4 * K, READ, CACHES_OWN, 2);
    expect(c, 2, RING + 4 * K, 4 * K, READ, CACHES_UNIT, 0);
    assert_true(given_up.shared_bytes == 8 * K && home[1] == 0);
}

/* Core 0 has written 12 KB: 4 that 1 reads go to their shared cache, 4 that 2 reads to memory, and
 * the rest stays. */
static void what_another_unit_reads_is_written_back(void **state)
{
    struct sim_caches *c = *state;

    writes(c, 0, RING, 12 * K);
    reads(c, 1, RING, 4 * K);
    reads(c, 2, RING + 4 * K, 4 * K);
    assert_true(home[1] == 4 * K && given_up.shared_bytes == 0);
    expect(c, 2, RING, 4 * K, READ, CACHES_UNIT, 0);
    expect(c, 1, RING + 4 * K, 4 * K, READ, CACHES_NODE, 1);
    expect(c, 3, RING + 4 * K, 4 * K, READ, CACHES_UNIT, 1);
    expect(c, 2, RING + 8 * K, 4 * K, READ, CACHES_CORE, 0);
    reads(c, 2, RING + 4 * K, 4 * K); /* once */
    assert_true(home[1] == 4 * K);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(nothing_is_anywhere_but_at_home),
        CASE(who_holds_what_after_copies),
        CASE(a_ring_stays_in_the_cache),
        CASE(a_long_message_does_not),
        CASE(more_than_a_cache_at_once),
        CASE(the_least_recently_used_goes),
        CASE(what_memory_has_is_dropped),
        CASE(past_the_caches),
        CASE(caches_hold_what_they_can),
        cmocka_unit_test_setup_teardown(a_cache_of_victims, set_up_victim, tear_down),
        cmocka_unit_test_setup_teardown(the_owner_keeps_what_it_wrote, set_up_keep, tear_down),
        cmocka_unit_test_setup_teardown(what_another_unit_reads_is_written_back, set_up_write_back,
                                        tear_down),
        cmocka_unit_test_setup_teardown(what_is_in_the_nearest_cache, set_up_nearest, tear_down),
    };

    return cmocka_run_group_tests_name("caches", tests, NULL, NULL);
}
